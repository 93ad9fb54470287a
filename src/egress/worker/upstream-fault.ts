import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';

/** Codes of OpenSSL and Node for a certificate or a handshake that is refused. */
const TLS_CODE =
  /^(?:CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|ERR_TLS_|ERR_SSL_|EPROTO)/;

/** Why a request got no answer: the host is refused, its certificate is, or it does not answer. */
export function upstreamFault(error: unknown): 'address-blocked' | 'upstream-tls' | 'upstream-unreachable' {
  if (SkillcellError.isInstance(error))
    return error.code === 'source.refused' ? 'address-blocked' : 'upstream-unreachable';
  const { code = '' } = error as NodeJS.ErrnoException;
  return TLS_CODE.test(code) ? 'upstream-tls' : 'upstream-unreachable';
}
