import { ACCOUNT_COMMANDS } from './accounts.ts'
import { AUDIT_COMMANDS } from './audit.ts'
import { CANARY_COMMANDS } from './canaries.ts'
import type { Command, OfflineCommand } from './command.ts'
import { HEALTH_COMMANDS } from './health.ts'
import { OPERATOR_COMMANDS } from './operator.ts'
import { ORGANIZATION_COMMANDS } from './organizations.ts'
import { NATS_COMMANDS, OUTSIDE_COMMANDS } from './outside.ts'
import { PROBE_COMMANDS } from './probes.ts'
import { SECRET_COMMANDS } from './secrets.ts'

/** The operator's commands by their words, as the help lists them. */
export const COMMANDS: Record<string, Command | OfflineCommand> = {
  ...HEALTH_COMMANDS,
  ...ACCOUNT_COMMANDS,
  ...ORGANIZATION_COMMANDS,
  ...AUDIT_COMMANDS,
  ...PROBE_COMMANDS,
  ...SECRET_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...CANARY_COMMANDS,
  ...OUTSIDE_COMMANDS,
  ...NATS_COMMANDS,
}

/** The command that arguments begin with, and what comes after its words; null when there is none. */
export function commandOf(args: string[]): { name: string; rest: string[] } | null {
  const name = Object.keys(COMMANDS).find(words => words === args.slice(0, words.split(' ').length).join(' '))
  return name === undefined ? null : { name, rest: args.slice(name.split(' ').length) }
}

/** The help of one command, of those that begin with a word, or of all. */
export function helpOf(name: string | null, firstWord = ''): string {
  const usage = (words: string) => [words, COMMANDS[words]!.takes].filter(Boolean).join(' ')
  if (name !== null) {
    const { does, more = [] } = COMMANDS[name]!
    return ['Usage:', `  ${usage(name)}`, '', `  ${does}`, ...more.map(line => `  ${line}`)].join('\n')
  }
  const alike = Object.keys(COMMANDS).filter(words => words.split(' ')[0] === firstWord)
  const listed = alike.length > 0 ? alike : Object.keys(COMMANDS)
  return ['Usage:', ...listed.flatMap(words => [`  ${usage(words)}`, `      ${COMMANDS[words]!.does}`])].join('\n')
}

/** What somebody is told whose words are no command, or only the beginning of one. */
export function helpInstead(args: string[]): string {
  const said = args.join(' ')
  const isBeginning = said === '' || Object.keys(COMMANDS).some(words => words.startsWith(`${said} `))
  const help = helpOf(null, args[0])
  return isBeginning ? help : `there is no command "${said}"\n\n${help}`
}
