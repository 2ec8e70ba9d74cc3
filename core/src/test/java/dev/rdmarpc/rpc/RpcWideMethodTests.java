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

import java.util.stream.LongStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Methods with as many parameters as Java allows. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RpcWideMethodTests {

	@Test
	void argumentsArriveInOrder() {
		try (RpcFixture fixture = new RpcFixture()) {
			Wide service = new Service();
			try (RpcServer server = fixture.startServer(Wide.class, service);
					RpcClient client = fixture.newClient(server)) {
				Wide wide = client.proxy(Wide.class);
				assertThat(wide.all(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
						23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46,
						47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70,
						71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94,
						95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114,
						115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126))
					.isEqualTo(LongStream.range(0, 127).map((i) -> i * i).sum());
				assertThatExceptionOfType(RpcException.class)
					.isThrownBy(() -> wide.all(-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
							0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
							0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
							0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
							0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
					.withMessageContaining("the first is negative");
			}
		}
	}

	/** The service of these tests. */
	public interface Wide {

		long all(long l0, long l1, long l2, long l3, long l4, long l5, long l6, long l7, long l8, long l9, long l10,
				long l11, long l12, long l13, long l14, long l15, long l16, long l17, long l18, long l19, long l20,
				long l21, long l22, long l23, long l24, long l25, long l26, long l27, long l28, long l29, long l30,
				long l31, long l32, long l33, long l34, long l35, long l36, long l37, long l38, long l39, long l40,
				long l41, long l42, long l43, long l44, long l45, long l46, long l47, long l48, long l49, long l50,
				long l51, long l52, long l53, long l54, long l55, long l56, long l57, long l58, long l59, long l60,
				long l61, long l62, long l63, long l64, long l65, long l66, long l67, long l68, long l69, long l70,
				long l71, long l72, long l73, long l74, long l75, long l76, long l77, long l78, long l79, long l80,
				long l81, long l82, long l83, long l84, long l85, long l86, long l87, long l88, long l89, long l90,
				long l91, long l92, long l93, long l94, long l95, long l96, long l97, long l98, long l99, long l100,
				long l101, long l102, long l103, long l104, long l105, long l106, long l107, long l108, long l109,
				long l110, long l111, long l112, long l113, long l114, long l115, long l116, long l117, long l118,
				long l119, long l120, long l121, long l122, long l123, long l124, long l125, long l126);

	}

	private static final class Service implements Wide {

		@Override
		public long all(long l0, long l1, long l2, long l3, long l4, long l5, long l6, long l7, long l8, long l9,
				long l10, long l11, long l12, long l13, long l14, long l15, long l16, long l17, long l18, long l19,
				long l20, long l21, long l22, long l23, long l24, long l25, long l26, long l27, long l28, long l29,
				long l30, long l31, long l32, long l33, long l34, long l35, long l36, long l37, long l38, long l39,
				long l40, long l41, long l42, long l43, long l44, long l45, long l46, long l47, long l48, long l49,
				long l50, long l51, long l52, long l53, long l54, long l55, long l56, long l57, long l58, long l59,
				long l60, long l61, long l62, long l63, long l64, long l65, long l66, long l67, long l68, long l69,
				long l70, long l71, long l72, long l73, long l74, long l75, long l76, long l77, long l78, long l79,
				long l80, long l81, long l82, long l83, long l84, long l85, long l86, long l87, long l88, long l89,
				long l90, long l91, long l92, long l93, long l94, long l95, long l96, long l97, long l98, long l99,
				long l100, long l101, long l102, long l103, long l104, long l105, long l106, long l107, long l108,
				long l109, long l110, long l111, long l112, long l113, long l114, long l115, long l116, long l117,
				long l118, long l119, long l120, long l121, long l122, long l123, long l124, long l125, long l126) {
			if (l0 < 0) {
				throw new RpcException(RpcStatus.INVALID_ARGUMENT, "the first is negative");
			}
			long[] all = { l0, l1, l2, l3, l4, l5, l6, l7, l8, l9, l10, l11, l12, l13, l14, l15, l16, l17, l18, l19,
					l20, l21, l22, l23, l24, l25, l26, l27, l28, l29, l30, l31, l32, l33, l34, l35, l36, l37, l38, l39,
					l40, l41, l42, l43, l44, l45, l46, l47, l48, l49, l50, l51, l52, l53, l54, l55, l56, l57, l58, l59,
					l60, l61, l62, l63, l64, l65, l66, l67, l68, l69, l70, l71, l72, l73, l74, l75, l76, l77, l78, l79,
					l80, l81, l82, l83, l84, l85, l86, l87, l88, l89, l90, l91, l92, l93, l94, l95, l96, l97, l98, l99,
					l100, l101, l102, l103, l104, l105, l106, l107, l108, l109, l110, l111, l112, l113, l114, l115,
					l116, l117, l118, l119, l120, l121, l122, l123, l124, l125, l126 };
			long sum = 0;
			for (int i = 0; i < all.length; i++) {
				sum += i * all[i];
			}
			return sum;
		}

	}

}
