import { isStorable } from '../../foundation/web/validation/body.ts'

const MIN_LENGTH = 12
const MAX_LENGTH = 256

/** What attackers try first, of those that are long enough to be passwords here. */
const COMMON = new Set([
  ...['passwordpassword', 'password1234', 'password12345', 'password123456', 'passw0rdpassw0rd', 'mypassword123'],
  ...[
    '123456789012',
    '1234567890123',
    '12345678901234',
    '123456123456',
    '123123123123',
    '111111111111',
    '000000000000',
  ],
  ...['qwertyuiopas', 'qwertyuiop12', 'qwertyuiop123', 'qwertyqwerty', 'qwerty123456', '1q2w3e4r5t6y', '1qaz2wsx3edc'],
  ...['administrator', 'adminadmin123', 'administrator1', 'letmeinletmein', 'iloveyou1234', 'iloveyouiloveyou'],
  ...[
    'welcome12345',
    'welcome123456',
    'changeme1234',
    'changemechangeme',
    'abcdefghijkl',
    'abcdefghijklm',
    'abc123abc123',
  ],
  ...[
    'picketpicket',
    'trustno1trustno1',
    'monkeymonkey',
    'dragondragon',
    'superman1234',
    'football1234',
    'baseball1234',
  ],
])

/** One text for one password, however a keyboard composes its letters. */
export const normalizePassword = (text: string): string => text.normalize('NFKC')

/** Why a password is refused, as a sentence; null when it is not. No rules about kinds of characters: length is what counts. */
export function findPasswordProblem(password: string, email: string): string | null {
  const length = [...password].length
  if (length < MIN_LENGTH) return `Use at least ${MIN_LENGTH} characters; a few words are easy to remember.`
  if (length > MAX_LENGTH) return `Use at most ${MAX_LENGTH} characters.`
  if (!isStorable(password)) return 'This holds characters that are not text.'
  const plain = password.toLowerCase()
  if (plain.includes(email.toLowerCase())) return 'Your e-mail address is the first thing that others would try.'
  if (COMMON.has(plain) || new Set(plain).size < 4) return 'This is one of the first passwords that others would try.'
  return null
}
