/** What reads show in place of a secret; sent back, it keeps the stored one (decisions 1.7). */
export const MASK = '********'

const SENSITIVE = /auth|bearer|cookie|credential|jwt|key|passw|passphrase|pwd|secret|session|signature|token/

/** True for a name whose value is taken to be a secret: sealed at rest, masked in reads and evidence (decisions 1.7). */
export const isSensitiveName = (name: string): boolean => SENSITIVE.test(name.toLowerCase())
