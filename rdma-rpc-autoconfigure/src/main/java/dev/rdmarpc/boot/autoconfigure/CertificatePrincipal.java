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

import java.security.Principal;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;

import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.security.auth.x500.X500Principal;

import dev.rdmarpc.transport.PeerRejectedException;

/** What of a caller's certificate is its name. */
public enum CertificatePrincipal {

	/** The whole distinguished name of the subject. */
	SUBJECT {

		@Override
		Principal of(X509Certificate certificate) {
			return certificate.getSubjectX500Principal();
		}

	},

	/** The most specific common name of the subject. */
	COMMON_NAME {

		@Override
		Principal of(X509Certificate certificate) {
			return commonName(certificate.getSubjectX500Principal());
		}

	},

	/** The first DNS name among the alternative names of the subject. */
	DNS_NAME {

		@Override
		Principal of(X509Certificate certificate) {
			try {
				Collection<List<?>> names = certificate.getSubjectAlternativeNames();
				if (names != null) {
					for (List<?> name : names) {
						if (name.get(0).equals(TYPE_DNS)) {
							return new ConnectionSecurity.Name(String.valueOf(name.get(1)));
						}
					}
				}
			}
			catch (CertificateParsingException ex) {
				throw rejected(ex);
			}
			throw new PeerRejectedException("the certificate has no DNS name");
		}

	};

	private static final Integer TYPE_DNS = 2;

	/**
	 * Parts of a name are numbered from the least specific one, which is written last.
	 */
	static Principal commonName(X500Principal subject) {
		try {
			List<Rdn> parts = new LdapName(subject.getName()).getRdns();
			for (int i = parts.size() - 1; i >= 0; i--) {
				Attribute name = parts.get(i).toAttributes().get("CN");
				if (name != null) {
					return new ConnectionSecurity.Name(text(name));
				}
			}
		}
		catch (NamingException ex) {
			throw rejected(ex);
		}
		throw new PeerRejectedException("the certificate has no common name");
	}

	private static String text(Attribute name) throws NamingException {
		if (name.size() == 1 && name.get() instanceof String text) {
			return text;
		}
		throw new NamingException("not one text: " + name);
	}

	private static PeerRejectedException rejected(Exception cause) {
		PeerRejectedException rejected = new PeerRejectedException("the certificate has no name that can be read");
		rejected.initCause(cause);
		return rejected;
	}

	abstract Principal of(X509Certificate certificate);

}
