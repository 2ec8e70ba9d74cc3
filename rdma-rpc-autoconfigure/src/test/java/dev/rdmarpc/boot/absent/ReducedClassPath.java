/*
 * Copyright 2026 the rdma-rpc authors.
 *
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *      https://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */

package dev.rdmarpc.boot.absent;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;

import org.springframework.util.StringUtils;

/**
 * The class path of the tests without some of its jars, in a class loader that sees
 * nothing else of the application: what is absent here is absent for everybody, Spring
 * and the classes of this project included.
 */
final class ReducedClassPath implements AutoCloseable {

	private final URLClassLoader classLoader;

	private final List<String> absent = new ArrayList<>();

	private ReducedClassPath(Collection<String> prefixes) throws IOException {
		List<URL> urls = new ArrayList<>();
		for (String entry : StringUtils.delimitedListToStringArray(System.getProperty("java.class.path"),
				File.pathSeparator)) {
			String name = Path.of(entry).getFileName().toString();
			if (name.endsWith(".jar") && prefixes.stream().anyMatch(name::startsWith)) {
				this.absent.add(name);
			}
			else {
				urls.add(Path.of(entry).toUri().toURL());
			}
		}
		this.classLoader = new URLClassLoader("reduced", urls.toArray(URL[]::new),
				ClassLoader.getPlatformClassLoader());
	}

	/** All but the jars whose names begin with one of some prefixes. */
	static ReducedClassPath without(Collection<String> prefixes) throws IOException {
		return new ReducedClassPath(prefixes);
	}

	/** The names of the jars left out. */
	List<String> absent() {
		return this.absent;
	}

	/** Loads a class of this class path. */
	Class<?> load(String className) throws ClassNotFoundException {
		return Class.forName(className, false, this.classLoader);
	}

	/**
	 * Calls an object made from a class of this class path.
	 * @return its answer, which must be of a type of the JDK
	 */
	@SuppressWarnings("unchecked")
	<T> T call(Class<? extends Callable<T>> type) throws Exception {
		Thread thread = Thread.currentThread();
		ClassLoader before = thread.getContextClassLoader();
		thread.setContextClassLoader(this.classLoader);
		try {
			return ((Callable<T>) load(type.getName()).getDeclaredConstructor().newInstance()).call();
		}
		finally {
			thread.setContextClassLoader(before);
		}
	}

	@Override
	public void close() throws IOException {
		this.classLoader.close();
	}

}
