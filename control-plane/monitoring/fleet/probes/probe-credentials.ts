/** What a probe shows at the door: a secret of its own, an enrolment token for a secret that is not known yet, or both. */
export type ProbeCredentials = { secret: string | null; token: string | null }

/**
 * The metadata of a probe's stream, `authorization` and `enrolment-token`. Probes of before secrets send their token as
 * `authorization`. A sentence for what cannot be either.
 */
export function parseProbeCredentials(authorization = '', enrolmentToken = ''): ProbeCredentials | { refusal: string } {
  const [, secret = null] = /^Bearer +(prs_[\w-]{43})$/i.exec(authorization) ?? []
  const [, bearer = ''] = /^Bearer +(prb_\S+)$/i.exec(authorization) ?? []
  if (secret === null && bearer === '') {
    return { refusal: 'send the probe’s secret or an enrolment token as "authorization: Bearer …"' }
  }
  return { secret, token: bearer || enrolmentToken || null }
}
