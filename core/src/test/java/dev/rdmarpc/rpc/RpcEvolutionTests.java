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

package dev.rdmarpc.rpc;

import java.util.Optional;
import java.util.OptionalLong;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import dev.rdmarpc.TestEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/** Peers whose methods have more parameters at the end, or fewer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcEvolutionTests {

	private final RpcFixture fixture = new RpcFixture();

	@AfterEach
	void nothingIsOutstanding() {
		this.fixture.close();
	}

	private <T> RpcServer serve(Class<T> type, T service) {
		return RpcServer.builder()
			.transport(this.fixture.serverTransport)
			.options(RpcFixture.serverOptions(0))
			.service("items", type, service)
			.build()
			.start();
	}

	private RpcClient clientOf(RpcServer server) {
		return RpcClient.builder()
			.transport(this.fixture.clientTransport)
			.target(TestEnvironment.host(), server.port())
			.build();
	}

	@Test
	void anOlderCallerLeavesOutWhatIsNew() {
		try (RpcServer server = serve(Newer.class, new NewerService()); RpcClient client = clientOf(server)) {
			Older older = client.proxy("items", Older.class);
			assertThat(older.none()).isEqualTo("0 0.0 \0 false null Optional.empty OptionalLong.empty null");
			assertThat(older.number(7)).isEqualTo("7 null 0");
			assertThat(older.item(new Item("lamp"))).isEqualTo("Item[name=lamp] 0 Optional.empty");
			assertThat(older.item(null)).isEqualTo("null 0 Optional.empty");
			assertThat(older.pair("a", new Item("b"))).isEqualTo("a Item[name=b] null");
		}
	}

	@Test
	void anOlderServiceIgnoresWhatIsNew() {
		try (RpcServer server = serve(Older.class, new OlderService()); RpcClient client = clientOf(server)) {
			Newer newer = client.proxy("items", Newer.class);
			assertThat(newer.none(1, 2, 'c', true, "text", Optional.of("x"), OptionalLong.of(3), new Item("y")))
				.isEqualTo("none");
			assertThat(newer.number(7, "text", 8)).isEqualTo("7");
			assertThat(newer.item(new Item("lamp"), 5, Optional.of("red"))).isEqualTo("Item[name=lamp]");
			assertThat(newer.item(null, 5, Optional.of("red"))).isEqualTo("null");
			assertThat(newer.pair("a", new Item("b"), new Item("c"))).isEqualTo("a Item[name=b]");
		}
	}

	/** What was there first. */
	public interface Older {

		String none();

		String number(int number);

		String item(Item item);

		String pair(String text, Item item);

	}

	/** What became of it. */
	public interface Newer {

		String none(int number, double fraction, char letter, boolean flag, String text, Optional<String> optional,
				OptionalLong maybe, Item item);

		String number(int number, String text, long more);

		String item(Item item, int number, Optional<String> color);

		String pair(String text, Item item, Item other);

	}

	/** A table. */
	public record Item(String name) {

	}

	private static final class OlderService implements Older {

		@Override
		public String none() {
			return "none";
		}

		@Override
		public String number(int number) {
			return String.valueOf(number);
		}

		@Override
		public String item(Item item) {
			return String.valueOf(item);
		}

		@Override
		public String pair(String text, Item item) {
			return text + " " + item;
		}

	}

	private static final class NewerService implements Newer {

		@Override
		public String none(int number, double fraction, char letter, boolean flag, String text,
				Optional<String> optional, OptionalLong maybe, Item item) {
			return number + " " + fraction + " " + letter + " " + flag + " " + text + " " + optional + " " + maybe + " "
					+ item;
		}

		@Override
		public String number(int number, String text, long more) {
			return number + " " + text + " " + more;
		}

		@Override
		public String item(Item item, int number, Optional<String> color) {
			return item + " " + number + " " + color;
		}

		@Override
		public String pair(String text, Item item, Item other) {
			return text + " " + item + " " + other;
		}

	}

}
