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

package dev.rdmarpc.tools.rpc;

import java.util.concurrent.Callable;

import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

import dev.rdmarpc.tools.ping.ProviderList;
import dev.rdmarpc.transport.ProviderSelection;

/** Shows the verbs providers of this host and their devices. */
@Command(name = "devices", description = "Shows the verbs providers of this host, what they lack, and their devices.")
final class DevicesCommand implements Callable<Integer> {

	@Spec
	@SuppressWarnings("NullAway.Init") // set by picocli before the command is called
	private CommandSpec spec;

	@Mixin
	@SuppressWarnings("UnusedVariable") // picocli looks at it
	private Help help = new Help();

	@Override
	public Integer call() {
		new ProviderList(ProviderSelection.discover()).print(this.spec.commandLine().getOut());
		return 0;
	}

}
