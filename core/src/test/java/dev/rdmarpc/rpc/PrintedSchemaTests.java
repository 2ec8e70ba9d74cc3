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

import java.util.List;
import java.util.concurrent.Flow;

import org.junit.jupiter.api.Test;

import dev.rdmarpc.codec.MessageCodec;
import dev.rdmarpc.codec.MessageFormat;
import dev.rdmarpc.codec.MethodSignature;
import dev.rdmarpc.flatbuffers.FlatBuffersCodec;

import static org.assertj.core.api.Assertions.assertThat;

/** The schemas of services, for people and for generators of code. */
class PrintedSchemaTests {

	@Test
	void serviceHasTheSchemaOfAllItsMethods() {
		String schema = ServiceDescriptor.of("shop", Shop.class, new FlatBuffersCodec()).printedSchema();
		assertThat(schema).contains("table Article {\n  name:string;\n  cents:long;\n}")
			.contains("rpc_service shop {")
			.contains("find(FindArguments):Article;")
			.contains("stock(StockArguments):");
	}

	@Test
	void methodHasThatOfItsOwnMessages() {
		ServiceDescriptor shop = ServiceDescriptor.of("shop", Shop.class, new FlatBuffersCodec());
		assertThat(shop.methods()).extracting(MethodDescriptor::name).containsExactly("find", "order", "stock");
		assertThat(shop.methods().get(2).printedSchema()).contains("stock(").doesNotContain("Article", "order");
		assertThat(shop.methods().get(1).printedSchema()).contains("order(NoContent)")
			.containsPattern("order_\\w+_\\(NoContent\\):Article");
	}

	@Test
	void codecNeedNotPrintAny() {
		MessageCodec own = new FlatBuffersCodec();
		MessageCodec silent = new MessageCodec() {

			@Override
			public String name() {
				return "silent";
			}

			@Override
			public MessageFormat arguments(MethodSignature method) {
				return own.arguments(method);
			}

			@Override
			public MessageFormat result(MethodSignature method) {
				return own.result(method);
			}

		};
		ServiceDescriptor shop = ServiceDescriptor.of("shop", Shop.class, silent);
		assertThat(shop.printedSchema()).isNull();
		assertThat(shop.methods()).allSatisfy((method) -> assertThat(method.printedSchema()).isNull());
	}

	interface Shop {

		Article find(String name);

		long order(Flow.Publisher<Article> articles);

		List<String> stock(int shelf);

	}

	record Article(String name, long cents) {

	}

}
