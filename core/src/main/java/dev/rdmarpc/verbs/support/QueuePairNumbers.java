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

package dev.rdmarpc.verbs.support;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

import dev.rdmarpc.verbs.VerbsError;
import dev.rdmarpc.verbs.VerbsException;

/**
 * The numbers of a device's open queue pairs. A number comes round again only after all
 * others, so that a late message about a closed queue pair is not taken for one about
 * another. Safe for use by several threads.
 */
public final class QueuePairNumbers {

	/** As with adapters: 24 bits. */
	private static final int GREATEST = 0xFF_FFFF;

	private final int most;

	private final int greatest;

	private final Set<Integer> open = ConcurrentHashMap.newKeySet();

	private final AtomicInteger next = new AtomicInteger(1);

	/**
	 * Creates the numbers of a device that has no queue pairs yet.
	 * @param most how many queue pairs may be open at once
	 */
	public QueuePairNumbers(int most) {
		this(most, GREATEST);
	}

	/** Takes numbers up to one that is a power of two less one. */
	QueuePairNumbers(int most, int greatest) {
		this.most = most;
		this.greatest = greatest;
	}

	/**
	 * A number for a new queue pair.
	 * @throws VerbsException with {@link VerbsError#LIMIT_EXCEEDED} if too many are open
	 */
	public int claim() {
		if (this.open.size() >= this.most) {
			throw new VerbsException(VerbsError.LIMIT_EXCEEDED, this.most + " queue pairs are open already");
		}
		while (true) {
			int number = this.next.getAndIncrement() & this.greatest;
			if (number != 0 && this.open.add(number)) {
				return number;
			}
		}
	}

	/** Gives back the number of a queue pair that is closed. */
	public void release(int number) {
		this.open.remove(number);
	}

}
