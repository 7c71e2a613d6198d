import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A file of the repository as text. */
export const readText = (path: string) => readFileSync(join(ROOT, path), 'utf8')

// biome-ignore lint/suspicious/noExplicitAny: configuration of every kind
export const readYaml = (path: string): any => parse(readText(path), { merge: true })

export type Manifest = {
  path: string
  apiVersion: string
  kind: string
  metadata: { name: string }
  // biome-ignore lint/suspicious/noExplicitAny: resources of every kind
  [key: string]: any
}

/** All files of deploy/kubernetes, including kustomizations. */
export function manifests(): Manifest[] {
  const folder = 'deploy/kubernetes'
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.yaml'))
    .sort()
    .flatMap(name => {
      const path = join(folder, name)
      return parseAllDocuments(readText(path)).map(document => ({ ...document.toJS(), path }))
    })
}

/** Files that read variables on behalf of the configuration. */
const SETTINGS = {
  'control-plane': [
    'control-plane/accounts/email/daily-limits/settings.ts',
    'control-plane/foundation/platform/nats/settings.ts',
    'control-plane/integrations/chat/settings.ts',
    'control-plane/monitoring/fleet/probes/installation/settings.ts',
    'control-plane/pages/custom-domains/settings.ts',
  ],
  'probe-agent': [],
}

/** The variables that a program reads. */
export function listVariables(program: 'control-plane' | 'probe-agent'): Set<string> {
  const texts = [`${program}/config.ts`, ...SETTINGS[program]].map(readText)
  return new Set([...texts.join('\n').matchAll(/'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)'/g)].map(found => found[1]!))
}

export const VERSION: string = JSON.parse(readText('package.json')).version
