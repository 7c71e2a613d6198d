import { isStorable } from '../../foundation/web/validation/body.ts'

const MIN_LENGTH = 12
const MAX_LENGTH = 256

/** Common passwords that are long enough to be accepted otherwise. */
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

/** Normalizes a password, because keyboards compose letters in different ways. */
export const normalizePassword = (text: string): string => text.normalize('NFKC')

/** Returns why a password is refused, as a sentence, or null. There are no rules about kinds of characters. */
export function findPasswordProblem(password: string, email: string): string | null {
  const length = [...password].length
  if (length < MIN_LENGTH) return `Use at least ${MIN_LENGTH} characters; a few words are easy to remember.`
  if (length > MAX_LENGTH) return `Use at most ${MAX_LENGTH} characters.`
  if (!isStorable(password)) return 'The password contains invalid characters.'
  const plain = password.toLowerCase()
  if (plain.includes(email.toLowerCase())) return 'The password must not contain your email address.'
  if (COMMON.has(plain) || new Set(plain).size < 4) return 'This password is too common.'
  return null
}
