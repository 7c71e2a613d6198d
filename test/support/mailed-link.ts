import type { startSmtp } from './smtp.ts'
import { waitFor } from './wait.ts'

export type Smtp = Awaited<ReturnType<typeof startSmtp>>

/** Waits for mail number `count` to an address and returns its link. */
export async function mailedLink({ mails }: Smtp, email: string, count: number): Promise<string> {
  const ofAddress = () => mails.filter(({ to }) => to.includes(email))
  const mail = await waitFor(() => ofAddress()[count - 1], { label: `mail ${count} to ${email}` })
  const text = mail.raw.replace(/=\r?\n/g, '').replaceAll('=3D', '=')
  return /https?:\/\/[^\s/]+\/(?:claim|reset)\/[\w-]+/.exec(text)![0]
}
