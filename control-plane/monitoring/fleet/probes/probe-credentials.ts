/** The credentials that a probe sends: its own secret, an enrolment token for a secret that is still unknown, or both. */
export type ProbeCredentials = { secret: string | null; token: string | null }

/**
 * Parses the metadata of a probe's stream, `authorization` and `enrolment-token`. Older probes without a secret send their
 * token as `authorization`. Returns a refusal when it has neither.
 */
export function parseProbeCredentials(authorization = '', enrolmentToken = ''): ProbeCredentials | { refusal: string } {
  const [, secret = null] = /^Bearer +(prs_[\w-]{43})$/i.exec(authorization) ?? []
  const [, bearer = ''] = /^Bearer +(prb_\S+)$/i.exec(authorization) ?? []
  if (secret === null && bearer === '') {
    return { refusal: 'authorization must be "Bearer …" with the secret of the probe or an enrolment token' }
  }
  return { secret, token: bearer || enrolmentToken || null }
}
