/** Shown in responses instead of a secret. A request that contains it keeps the stored secret. */
export const MASK = '********'

const SENSITIVE = /auth|bearer|cookie|credential|jwt|key|passw|passphrase|pwd|secret|session|signature|token/

/** True for a name whose value is treated as a secret: encrypted at rest, masked in responses and evidence. */
export const isSensitiveName = (name: string): boolean => SENSITIVE.test(name.toLowerCase())
