import { createPrivateKey, createPublicKey, hkdfSync, sign } from 'node:crypto'

/** An Ed25519 key pair in the text format of NATS. */
export type Nkey = {
  /** begins with O, A or U */
  publicKey: string
  /** begins with SO, SA or SU */
  seed: string
  sign(bytes: Buffer): Buffer
}

type NkeyKind = 'operator' | 'account' | 'user'

const KIND_BYTE: Record<NkeyKind, number> = { operator: 14 << 3, account: 0, user: 20 << 3 }
const SEED_BYTE = 18 << 3
/** The bytes before the 32 bytes of a private Ed25519 key in PKCS #8. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The key pair of a private key of 32 bytes. OpenSSL signs, not the package `@nats-io/nkeys`: its plain JavaScript takes
 * 7 ms for a signature, and a control plane that restarts signs for a thousand probes.
 */
export function createNkey(kind: NkeyKind, raw: Buffer): Nkey {
  const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, raw]), format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  const byte = KIND_BYTE[kind]
  return {
    publicKey: encode(Buffer.of(byte), Buffer.from(x, 'base64url')),
    seed: encode(Buffer.of(SEED_BYTE | (byte >> 5), (byte & 31) << 3), raw),
    sign: bytes => sign(null, bytes, privateKey),
  }
}

/** The private key of a seed; null when the seed is mistyped or of another kind. */
export function decodeSeed(kind: NkeyKind, seed: string): Buffer | null {
  const raw = decodeBase32(seed).subarray(2, 34)
  return raw.length === 32 && createNkey(kind, raw).seed === seed ? raw : null
}

/** Derives a key from `raw`. The same `purpose` gives the same key, another one an unrelated key. */
export function deriveNkey(raw: Buffer, kind: NkeyKind, purpose: string): Nkey {
  return createNkey(kind, Buffer.from(hkdfSync('sha256', raw, '', `picket nats ${purpose}`, 32)))
}

function encode(head: Buffer, body: Buffer): string {
  const bytes = Buffer.concat([head, body])
  const check = Buffer.alloc(2)
  check.writeUInt16LE(crc16(bytes))
  return encodeBase32(Buffer.concat([bytes, check]))
}

/** CRC-16/XMODEM. */
function crc16(bytes: Buffer): number {
  let crc = 0
  for (const byte of bytes) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff
  }
  return crc
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

function encodeBase32(bytes: Buffer): string {
  const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map(five => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}

/** Decodes up to the first character that is not in the alphabet. */
function decodeBase32(text: string): Buffer {
  const bits = [...(/^[A-Z2-7]*/.exec(text)?.[0] ?? '')].map(one => BASE32.indexOf(one).toString(2).padStart(5, '0'))
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map(byte => Number.parseInt(byte, 2)))
}
