import { createNkey, decodeSeed, type Nkey } from './nkeys.ts'

/** Answers the nonce of a server: the authenticator of a NATS client. */
type Login = (nonce?: string) => { jwt: string; nkey: string; sig: string }

/** Logs in with a signed text and the key of its user. Faster than the client's own, which signs in plain JavaScript (nkeys.ts). */
export const createLogin =
  (jwt: string, key: Nkey): Login =>
  nonce => ({ jwt, nkey: key.publicKey, sig: nonce ? key.sign(Buffer.from(nonce)).toString('base64') : '' })

/** The same with the text of a creds file. Throws when the text is not one. */
export function createLoginOfCredentials(text: string): Login {
  const [jwt = '', seed = ''] = [...text.matchAll(/^-{3,}BEGIN [^\n]*\n(\S+)\n-{3,}END /gm)].map(([, part]) => part)
  const raw = decodeSeed('user', seed)
  if (raw === null) throw new Error('the text is not the credentials of a NATS user')
  return createLogin(jwt, createNkey('user', raw))
}
