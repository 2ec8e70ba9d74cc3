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

package dev.rdmarpc.boot.autoconfigure;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextHolderStrategy;
import org.springframework.security.core.userdetails.UserDetailsService;

import dev.rdmarpc.boot.RdmaServerCustomizer;
import dev.rdmarpc.boot.security.RdmaAuthenticationConverter;
import dev.rdmarpc.boot.security.SecurityContextInterceptor;
import dev.rdmarpc.boot.security.SecurityContextPropagation;
import dev.rdmarpc.boot.security.SecurityExceptionHandler;
import dev.rdmarpc.rpc.ContextPropagation;

/**
 * {@link EnableAutoConfiguration Auto-configuration} of the security context of handlers,
 * where the application has Spring Security.
 */
@AutoConfiguration(after = RdmaServerAutoConfiguration.class)
@ConditionalOnClass(SecurityContextHolder.class)
@ConditionalOnBooleanProperty(name = "rdma.rpc.server.enabled", matchIfMissing = true)
public final class RdmaSecurityAutoConfiguration {

	/** Where Spring Boot makes a user of its own, for web applications without any. */
	private static final String BOOT = "org.springframework.boot.security.autoconfigure";

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	RdmaAuthenticationConverter rdmaAuthenticationConverter(ObjectProvider<UserDetailsService> users,
			ConfigurableListableBeanFactory beans) {
		UserDetailsService found = isUserOfBoot(beans) ? null : users.getIfUnique();
		return (found != null) ? RdmaAuthenticationConverter.ofUsers(found)
				: RdmaAuthenticationConverter.withoutAuthorities();
	}

	private static boolean isUserOfBoot(ConfigurableListableBeanFactory beans) {
		String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, UserDetailsService.class, true,
				false);
		return names.length == 1 && FactoryMethods.isMadeIn(BOOT, names[0], beans);
	}

	@Bean
	@Lazy
	@ConditionalOnMissingBean
	SecurityContextInterceptor rdmaSecurityContextInterceptor(RdmaAuthenticationConverter converter,
			ObjectProvider<SecurityContextHolderStrategy> contexts) {
		return new SecurityContextInterceptor(converter, contexts(contexts));
	}

	/** The last one, after what the application says of such exceptions. */
	@Bean
	@Lazy
	@Order(Ordered.LOWEST_PRECEDENCE)
	@ConditionalOnMissingBean
	SecurityExceptionHandler rdmaSecurityExceptionHandler() {
		return new SecurityExceptionHandler();
	}

	/** Before the customizers of the application, which may choose another. */
	@Bean
	@Lazy
	@Order(Ordered.HIGHEST_PRECEDENCE)
	@ConditionalOnMissingBean(name = "rdmaSecurityServerCustomizer")
	RdmaServerCustomizer rdmaSecurityServerCustomizer(ObjectProvider<SecurityContextHolderStrategy> contexts,
			ObjectProvider<ContextPropagation> propagation) {
		return (server) -> server
			.contextPropagation(new SecurityContextPropagation(contexts(contexts), propagation.getIfAvailable()));
	}

	private static SecurityContextHolderStrategy contexts(ObjectProvider<SecurityContextHolderStrategy> contexts) {
		return contexts.getIfAvailable(SecurityContextHolder::getContextHolderStrategy);
	}

}
