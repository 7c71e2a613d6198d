// Writes control-plane/pages/templates/assets.ts: the CSS and the browser modules of public pages, each as one string, so that
// they are part of the program and a page contains everything that it needs.
import { readdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../install/install.mjs'

const FOLDER = 'control-plane/pages/templates'
const STYLES = `${FOLDER}/styles`
const BROWSERS = ['chrome111', 'firefox115', 'safari16.4']

/** Resolves to the text of assets.ts. */
export async function makeAssets() {
  const { build } = await import('esbuild')
  const sheets = readdirSync(join(ROOT, STYLES)).sort()
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [
      ...sheets.map(name => `${STYLES}/${name}`),
      `${FOLDER}/browser/main.ts`,
      `${FOLDER}/browser/widget.ts`,
    ],
    outdir: 'out',
    bundle: true,
    minify: true,
    charset: 'utf8',
    format: 'iife',
    target: BROWSERS,
    write: false,
    logLevel: 'warning',
  })
  const getText = name => outputFiles.find(({ path }) => path.endsWith(`/${name}`)).text.trim()
  const literal = text => `\`${text.replace(/[\\`]|\$\{/g, '\\$&')}\``
  return [
    '// Made by "npm run generate" of templates/styles and browser; a test makes it again and compares.',
    'export const STYLES = {',
    ...sheets.map(name => `  ${basename(name, '.css')}: ${literal(getText(`styles/${name}`))},`),
    '}',
    '',
    `export const SCRIPT = ${literal(getText('browser/main.js'))}`,
    '',
    `export const WIDGET = ${literal(getText('browser/widget.js'))}`,
    '',
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(ROOT, FOLDER, 'assets.ts'), await makeAssets())
}
