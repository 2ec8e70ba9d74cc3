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

package dev.rdmarpc.boot.retry;

import dev.rdmarpc.rpc.MethodDescriptor;
import dev.rdmarpc.rpc.RpcException;

/** Is told of each call that is made again. Must not block or throw. */
@FunctionalInterface
public interface RetryListener {

	/**
	 * A call is about to be made again.
	 * @param target the name of the client's target
	 * @param retry how many times it was made again, this one included
	 * @param failure of the attempt before
	 */
	void retrying(String target, MethodDescriptor method, int retry, RpcException failure);

}
