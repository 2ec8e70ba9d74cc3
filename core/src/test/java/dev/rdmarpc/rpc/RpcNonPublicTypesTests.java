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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A contract that is nobody else's: neither its interface nor its types are public. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcNonPublicTypesTests {

	private final RpcFixture fixture = new RpcFixture();

	private final RpcServer server = this.fixture.startServer(Orders.class, new OrderTable());

	private final RpcClient client = this.fixture.newClient(this.server);

	private final Orders orders = this.client.proxy(Orders.class);

	@AfterEach
	void nothingIsOutstanding() {
		this.client.close();
		this.server.close();
		this.fixture.close();
	}

	@Test
	void theirValuesTravel() {
		Order order = new Order(7,
				List.of(new Line("pear", Unit.PIECE, new Paid(3)), new Line("apple", Unit.KILOGRAM, new Open())),
				Map.of(Unit.PIECE, Optional.of(new Paid(4))));
		for (int i = 0; i < 3; i++) {
			assertThat(this.orders.place(order)).isEqualTo(order);
			assertThat(this.orders.placeLater(order).join()).isEqualTo(order);
		}
	}

	@Test
	void theirExceptionsTravel() {
		assertThatExceptionOfType(Refused.class)
			.isThrownBy(() -> this.orders.refuse(new Line("pear", Unit.PIECE, new Open())))
			.satisfies((ex) -> assertThat(ex.line()).isEqualTo(new Line("pear", Unit.PIECE, new Open())));
	}

	/** What is nested too deeply is named, but not at length. */
	@Test
	void whatIsTooDeepIsSaidInShort() {
		Node node = null;
		for (int i = 0; i < 200; i++) {
			node = new Node(i, node);
		}
		Node deep = node;
		assertThatExceptionOfType(RpcException.class).isThrownBy(() -> this.orders.walk(deep))
			.satisfies((ex) -> assertThat(ex.status()).isEqualTo(RpcStatus.INVALID_ARGUMENT))
			.satisfies((ex) -> assertThat(ex.detail()).hasSizeLessThan(300)
				.contains("next. … .next", "nested deeper than 64 tables"));
	}

	interface Orders {

		Order place(Order order);

		CompletableFuture<Order> placeLater(Order order);

		void refuse(Line line) throws Refused;

		int walk(Node node);

	}

	enum Unit {

		PIECE, KILOGRAM

	}

	sealed interface State permits Paid, Open {

	}

	private record Paid(int cents) implements State {

	}

	private record Open() implements State {

	}

	record Line(String article, Unit unit, State state) {

	}

	record Order(int number, List<Line> lines, Map<Unit, Optional<Paid>> discounts) {

		Order {
			lines = new ArrayList<>(lines);
		}

	}

	record Node(int value, @Nullable Node next) {

	}

	@SuppressWarnings("serial")
	static final class Refused extends Exception {

		private final Line line;

		private Refused(Line line) {
			super("refused");
			this.line = line;
		}

		public Line line() {
			return this.line;
		}

	}

	private static final class OrderTable implements Orders {

		@Override
		public Order place(Order order) {
			return order;
		}

		@Override
		public CompletableFuture<Order> placeLater(Order order) {
			return CompletableFuture.completedFuture(order);
		}

		@Override
		public void refuse(Line line) throws Refused {
			throw new Refused(line);
		}

		@Override
		public int walk(Node node) {
			return node.value();
		}

	}

}
