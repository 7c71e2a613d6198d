import type { AdminCommand, OfflineAdminCommand } from './command.ts'
import { ACCOUNT_COMMANDS } from './commands/accounts.ts'
import { AUDIT_COMMANDS } from './commands/audit.ts'
import { CANARY_COMMANDS } from './commands/canaries.ts'
import { HEALTH_COMMANDS } from './commands/health.ts'
import { NATS_COMMANDS, RDAP_COMMANDS } from './commands/nats-and-rdap.ts'
import { OPERATOR_COMMANDS } from './commands/operator.ts'
import { ORGANIZATION_COMMANDS } from './commands/organizations.ts'
import { PROBE_COMMANDS } from './commands/probes.ts'
import { SCHEMA_COMMANDS } from './commands/schema.ts'
import { SECRET_COMMANDS } from './commands/secrets.ts'

/** The operator's commands by name, in the order of the help. */
export const COMMANDS: Record<string, AdminCommand | OfflineAdminCommand> = {
  ...HEALTH_COMMANDS,
  ...SCHEMA_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...ORGANIZATION_COMMANDS,
  ...AUDIT_COMMANDS,
  ...PROBE_COMMANDS,
  ...SECRET_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...CANARY_COMMANDS,
  ...RDAP_COMMANDS,
  ...NATS_COMMANDS,
}

/** The command at the beginning of the arguments, and the remaining arguments; null when there is none. */
export function findCommand(args: string[]): { name: string; rest: string[] } | null {
  const name = Object.keys(COMMANDS).find(words => words === args.slice(0, words.split(' ').length).join(' '))
  return name === undefined ? null : { name, rest: args.slice(name.split(' ').length) }
}

/** The help of one command, of the commands that begin with a word, or of all. */
export function formatHelp(name: string | null, firstWord = ''): string {
  const usage = (words: string) => [words, COMMANDS[words]!.usage].filter(Boolean).join(' ')
  if (name !== null) {
    const { summary, details = [] } = COMMANDS[name]!
    return ['Usage:', `  ${usage(name)}`, '', `  ${summary}`, ...details.map(line => `  ${line}`)].join('\n')
  }
  const alike = Object.keys(COMMANDS).filter(words => words.split(' ')[0] === firstWord)
  const listed = alike.length > 0 ? alike : Object.keys(COMMANDS)
  return ['Usage:', ...listed.flatMap(words => [`  ${usage(words)}`, `      ${COMMANDS[words]!.summary}`])].join('\n')
}

/** The help for arguments that are not a command, or only the beginning of one. */
export function formatUsageHint(args: string[]): string {
  const typed = args.join(' ')
  const isBeginning = typed === '' || Object.keys(COMMANDS).some(words => words.startsWith(`${typed} `))
  const help = formatHelp(null, args[0])
  return isBeginning ? help : `unknown command "${typed}"\n\n${help}`
}
