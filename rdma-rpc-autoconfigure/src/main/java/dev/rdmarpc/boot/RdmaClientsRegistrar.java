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

package dev.rdmarpc.boot;

import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AutowireCandidateQualifier;
import org.springframework.beans.factory.support.BeanDefinitionOverrideException;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ClassPathScanningCandidateComponentProvider;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.annotation.AnnotationAttributes;
import org.springframework.core.env.Environment;
import org.springframework.core.io.ResourceLoader;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/** Registers the bean definitions that {@link ImportRdmaClients} declares. */
class RdmaClientsRegistrar implements ImportBeanDefinitionRegistrar {

	private final Environment environment;

	private final ResourceLoader resourceLoader;

	RdmaClientsRegistrar(Environment environment, ResourceLoader resourceLoader) {
		this.environment = environment;
		this.resourceLoader = resourceLoader;
	}

	@Override
	public void registerBeanDefinitions(AnnotationMetadata importingClass, BeanDefinitionRegistry registry) {
		for (AnnotationAttributes attributes : importingClass.getMergedRepeatableAnnotationAttributes(
				ImportRdmaClients.class, ImportRdmaClients.Container.class, false)) {
			register(attributes, importingClass.getClassName(), registry);
		}
	}

	private void register(AnnotationAttributes attributes, String importingClass, BeanDefinitionRegistry registry) {
		String written = attributes.getString("target");
		String where = "@ImportRdmaClients(target = \"" + written + "\") on " + importingClass;
		String target = resolve(written, where);
		check(StringUtils.hasText(target), where + " has no target", "Name the target");
		Set<Class<?>> types = new LinkedHashSet<>(Arrays.asList(attributes.getClassArray("types")));
		for (String basePackage : attributes.getStringArray("basePackages")) {
			Set<Class<?>> found = scan(resolve(basePackage, where));
			check(!found.isEmpty(), where + " finds no service interface in " + basePackage,
					"Correct the package. Services are interfaces with abstract methods that are neither sealed nor generic");
			types.addAll(found);
		}
		check(!types.isEmpty(), where + " names neither types nor base packages",
				"Name the interfaces of the services, as in types = Prices.class, or a package that has them");
		String serviceName = attributes.getString("serviceName");
		check(serviceName.isEmpty() || types.size() == 1,
				where + " has a service name and " + types.size() + " types (expected: one)",
				"Import the other types by another @ImportRdmaClients");
		for (Class<?> type : types) {
			check(type.isInterface(), where + " names " + type.getName() + " (expected: an interface)",
					"Name the interface that client and server share");
			register(target, type, serviceName.isEmpty() ? type.getName() : serviceName, where, registry);
		}
	}

	private String resolve(String text, String where) {
		try {
			return this.environment.resolveRequiredPlaceholders(text);
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidRdmaImportException(where + ": " + ex.getMessage(),
					"Set the property, or give the placeholder a default as in ${name:default}");
		}
	}

	private static void check(boolean valid, String message, String action) {
		if (!valid) {
			throw new InvalidRdmaImportException(message, action);
		}
	}

	private Set<Class<?>> scan(String basePackage) {
		InterfaceScanner scanner = new InterfaceScanner(this.environment);
		scanner.setResourceLoader(this.resourceLoader);
		Set<Class<?>> types = new LinkedHashSet<>();
		List<BeanDefinition> candidates = new ArrayList<>(scanner.findCandidateComponents(basePackage));
		for (BeanDefinition candidate : candidates) {
			Class<?> type = ClassUtils.resolveClassName(String.valueOf(candidate.getBeanClassName()),
					this.resourceLoader.getClassLoader());
			boolean callable = Arrays.stream(type.getMethods())
				.anyMatch((method) -> Modifier.isAbstract(method.getModifiers()));
			if (callable && !type.isSealed() && type.getTypeParameters().length == 0) {
				types.add(type);
			}
		}
		return types;
	}

	private <T> void register(String target, Class<T> type, String serviceName, String where,
			BeanDefinitionRegistry registry) {
		String name = target + "." + StringUtils.uncapitalizeAsProperty(ClassUtils.getShortName(type));
		RootBeanDefinition definition = new RootBeanDefinition(RdmaClientFactoryBean.class);
		definition.getConstructorArgumentValues().addIndexedArgumentValue(0, target);
		definition.getConstructorArgumentValues().addIndexedArgumentValue(1, type);
		definition.getConstructorArgumentValues().addIndexedArgumentValue(2, serviceName);
		definition.setAttribute(FactoryBean.OBJECT_TYPE_ATTRIBUTE, type);
		definition.setAttribute(RdmaClients.class.getName(), target);
		definition.addQualifier(new AutowireCandidateQualifier(Qualifier.class, target));
		definition.setResourceDescription(where);
		definition.setDescription("RDMA client of " + serviceName + " at '" + target + "'");
		if (registry.containsBeanDefinition(name)) {
			BeanDefinition other = registry.getBeanDefinition(name);
			if (other.getConstructorArgumentValues().equals(definition.getConstructorArgumentValues())) {
				return;
			}
			throw new BeanDefinitionOverrideException(name, definition, other);
		}
		registry.registerBeanDefinition(name, definition);
	}

	/** Finds interfaces, which are not otherwise candidates for components. */
	private static final class InterfaceScanner extends ClassPathScanningCandidateComponentProvider {

		InterfaceScanner(Environment environment) {
			super(false, environment);
			addIncludeFilter((reader, factory) -> reader.getClassMetadata().isInterface()
					&& !reader.getClassMetadata().isAnnotation());
		}

		@Override
		protected boolean isCandidateComponent(AnnotatedBeanDefinition definition) {
			return definition.getMetadata().isIndependent();
		}

	}

}
