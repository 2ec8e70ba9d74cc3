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

package dev.rdmarpc.memory;

import java.nio.ByteBuffer;
import java.util.Objects;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** Extents and devices that come and go at the same time. */
final class RegistrarStress {

	private static final ByteBuffer BYTES = ByteBuffer.allocateDirect(64);

	private RegistrarStress() {
	}

	private static Extent added(Registrar registrar) {
		Extent extent = new Extent(BYTES.duplicate());
		registrar.add(extent);
		return extent;
	}

	/** An extent and a device come. */
	@JCStressTest
	@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "registered once")
	@Outcome(expect = Expect.FORBIDDEN, desc = "not registered, or twice")
	@State
	public static class AddAndAttach {

		private final Registrar registrar = new Registrar();

		private final RecordingHook hook = new RecordingHook();

		private final Extent extent = new Extent(BYTES.duplicate());

		@Actor
		public void add() {
			this.registrar.add(this.extent);
		}

		@Actor
		public void attach() {
			this.registrar.attach(this.hook);
		}

		@Arbiter
		public void count(II_Result result) {
			result.r1 = this.hook.regions.size();
			result.r2 = this.hook.regions.contains(this.extent.region(0)) ? 1 : 0;
		}

	}

	/** An extent comes when a device goes. */
	@JCStressTest
	@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "not registered any more")
	@Outcome(expect = Expect.FORBIDDEN, desc = "registered with a device that has gone")
	@State
	public static class AddAndDetach {

		private final Registrar registrar = new Registrar();

		private final RecordingHook hook = new RecordingHook();

		private final MemoryAttachment attachment = this.registrar.attach(this.hook);

		private final Extent extent = new Extent(BYTES.duplicate());

		@Actor
		public void add() {
			this.registrar.add(this.extent);
		}

		@Actor
		public void detach() {
			this.registrar.detach(this.attachment);
		}

		@Arbiter
		public void count(I_Result result) {
			result.r1 = this.hook.regions.size();
		}

	}

	/** An extent goes when a device comes. */
	@JCStressTest
	@Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "not registered any more")
	@Outcome(expect = Expect.FORBIDDEN, desc = "an extent that has gone is registered")
	@State
	public static class RemoveAndAttach {

		private final Registrar registrar = new Registrar();

		private final RecordingHook hook = new RecordingHook();

		private final Extent extent = added(this.registrar);

		@Actor
		public void remove() {
			this.registrar.remove(this.extent);
		}

		@Actor
		public void attach() {
			this.registrar.attach(this.hook);
		}

		@Arbiter
		public void count(I_Result result) {
			result.r1 = this.hook.regions.size();
		}

	}

	/** A device that comes gets the index of one that goes, or another. */
	@JCStressTest
	@Outcome(id = "0, 1", expect = Expect.ACCEPTABLE, desc = "registered with the second one")
	@Outcome(expect = Expect.FORBIDDEN, desc = "a region of one is taken for that of the other")
	@State
	public static class DetachAndAttach {

		private final Registrar registrar = new Registrar();

		private final RecordingHook first = new RecordingHook();

		private final RecordingHook second = new RecordingHook();

		private final Extent extent = added(this.registrar);

		private final MemoryAttachment attachment = this.registrar.attach(this.first);

		private int index;

		@Actor
		public void detach() {
			this.registrar.detach(this.attachment);
		}

		@Actor
		public void attach() {
			this.index = this.registrar.attach(this.second).index();
		}

		@Arbiter
		public void count(II_Result result) {
			this.registrar.detach(this.attachment);
			result.r1 = this.first.regions.size();
			result.r2 = this.second.regions.contains(Objects.requireNonNull(this.extent.region(this.index))) ? 1 : 0;
		}

	}

}
