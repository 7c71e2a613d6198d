import type { ReadMail } from './read-mail.ts'

export type StoredMail = ReadMail & { number: number; receivedAt: Date }
