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

package dev.rdmarpc.boot.security;

import java.security.Principal;
import java.util.List;

import org.springframework.security.authentication.AccountStatusUserDetailsChecker;
import org.springframework.security.authentication.UsernamePasswordAuthenticationToken;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.core.userdetails.UserDetailsChecker;
import org.springframework.security.core.userdetails.UserDetailsService;

import dev.rdmarpc.rpc.RpcContext;

/**
 * Says what a caller is allowed to do: makes the {@link Authentication} that handlers
 * have in their security context of the principal of the connection. A bean of this type
 * replaces the default one.
 *
 * <p>
 * Must be thread-safe.
 */
@FunctionalInterface
public interface RdmaAuthenticationConverter {

	/**
	 * Converts the principal of a connection. Called for each call, on the thread of its
	 * handler and before that, with {@link RpcContext#current()}. Callers that nobody
	 * knows are not converted; their handlers have no authentication.
	 * @param principal who the caller is, as decided when it connected
	 * @return authenticated, with authorities
	 * @throws AuthenticationException if the principal is not accepted; the call fails as
	 * unauthenticated
	 */
	Authentication convert(Principal principal);

	/**
	 * Takes a principal that is an {@link Authentication} as it is, and gives others no
	 * authorities.
	 */
	static RdmaAuthenticationConverter withoutAuthorities() {
		return (principal) -> (principal instanceof Authentication authentication) ? authentication
				: UsernamePasswordAuthenticationToken.authenticated(principal, null, List.of());
	}

	/**
	 * Takes a principal that is an {@link Authentication} as it is, and looks others up
	 * by their names. Those that are not found, or are disabled, locked or expired, are
	 * not accepted.
	 * @param users is asked for each call, and may remember what it has found
	 */
	static RdmaAuthenticationConverter ofUsers(UserDetailsService users) {
		UserDetailsChecker checker = new AccountStatusUserDetailsChecker();
		return (principal) -> {
			if (principal instanceof Authentication authentication) {
				return authentication;
			}
			UserDetails user = users.loadUserByUsername(principal.getName());
			checker.check(user);
			return UsernamePasswordAuthenticationToken.authenticated(user, null, user.getAuthorities());
		};
	}

}
