import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DockerfileParser } from 'dockerfile-ast'
import { validate } from 'dockerfile-utils'
import { build } from 'esbuild'
import t from 'tap'
import { EXTERNAL_PACKAGES } from '../../../tools/build/build.mjs'
import { createSubset } from '../../../tools/install/subset-lock.mjs'
import { ROOT, readText } from '../../support/deployment.ts'

const IMAGES = {
  'deploy/images/control-plane.Dockerfile': {
    entryPoints: [
      'control-plane/main.ts',
      'control-plane/admin.ts',
      'control-plane/integrations/data-sources/evaluation/examine-worker.ts',
      'control-plane/integrations/import-export/file/yaml-worker.ts',
      'control-plane/integrations/import-export/converters/convert-worker.ts',
      'control-plane/integrations/import-export/jobs/reading/import-worker.ts',
      'control-plane/pages/core/custom-css/css-worker.ts',
      'control-plane/pages/core/images/svg-worker.ts',
      'control-plane/integrations/vendors/feed-reading/feed-worker.ts',
      'control-plane/monitoring/screenshots/difference/difference-worker.ts',
    ],
    also: [] as string[],
  },
  'deploy/images/probe-agent.Dockerfile': {
    entryPoints: [
      'probe-agent/main.ts',
      'probe-agent/execution/assertion-thread.ts',
      'probe-agent/screenshots/main.ts',
    ],
    // for `npm start`; an image has Chromium of its distribution, or none
    also: ['@sparticuz/chromium'],
  },
}

/** Packages that `debug` uses when they are installed. */
const REQUIRED_IN_TRY = ['node_modules/supports-color', 'node_modules/has-flag']

for (const [path, { entryPoints, also }] of Object.entries(IMAGES)) {
  t.test(`${path} is valid, runs without privileges and copies existing files`, async t => {
    const text = readText(path)
    t.same(validate(text), [])
    const instructions = DockerfileParser.parse(text).getInstructions()
    const last = instructions.findLastIndex(one => one.getKeyword() === 'FROM')
    const final = instructions.slice(last)
    const listArguments = (keyword: string, among = final) =>
      among.filter(one => one.getKeyword() === keyword).map(one => one.getArgumentsContent() ?? '')
    t.same(listArguments('USER'), ['1000:1000'])
    t.same(
      listArguments('FROM', instructions).filter(from => !/^node:\$\{NODE_TAG\}( AS \w+)?$/.test(from)),
      [],
    )
    t.match(listArguments('ARG', instructions)[0], /^NODE_TAG=\d+-bookworm-slim$/)
    const copied = listArguments('COPY', instructions).flatMap(line => line.split(/\s+/).slice(0, -1))
    t.same(
      copied.filter(word => !word.startsWith('--') && !word.startsWith('/') && !existsSync(join(ROOT, word))),
      [],
    )
    const programs = [...readText('tools/build/build.mjs').matchAll(/^ {2}'?([\w-]+)'?: '[\w/-]+\.ts',$/gm)]
    const built = new Set(programs.map(found => `/picket/dist/${found[1]}.js`))
    const files = copied.filter(word => word.endsWith('.js'))
    t.equal(files.length, entryPoints.length)
    t.same(
      files.filter(file => !built.has(file)),
      [],
    )
  })

  t.test(`${path} contains every package that is not part of its bundles`, async t => {
    const { metafile } = await build({
      absWorkingDir: ROOT,
      entryPoints,
      outdir: 'dist',
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      metafile: true,
      write: false,
    })
    const imports = Object.values(metafile.outputs).flatMap(output => output.imports.map(one => one.path))
    const packages = new Set(imports.filter(name => !name.startsWith('node:')).map(toPackageName))
    const { dependencies, optionalDependencies } = JSON.parse(readText('package.json'))
    t.ok(packages.size > 4)
    t.same(
      [...packages].filter(name => !(name in dependencies) && !(name in optionalDependencies)),
      [],
    )
    const [, installed = ''] = /subset-lock\.mjs \/packages ((?:(?!&&).)+)/s.exec(readText(path)) ?? []
    const needed = EXTERNAL_PACKAGES.filter(name => packages.has(name) && !also.includes(name))
    t.same(
      needed.filter(name => !installed.split(/\s+/).includes(name)),
      [],
    )
    const bundled: string[] = JSON.parse(readText('dist/inputs.json')).inputs
    const ofPackages = bundled.filter(file => file.startsWith('node_modules/'))
    t.ok(ofPackages.length > 1_000)
    t.match(readText(path), /subset-lock\.mjs \/tools --production esbuild /)
    const { lock } = createSubset(JSON.parse(readText('package-lock.json')), Object.keys(dependencies))
    const places = Object.keys(lock.packages).filter(place => place !== '')
    const isInstalled = (file: string) => [...places, ...REQUIRED_IN_TRY].some(place => file.startsWith(`${place}/`))
    t.same(
      ofPackages.filter(file => !isInstalled(file)),
      [],
      'the build stage installs what it bundles',
    )
  })
}

/** The package of an import such as `typebox/value` or `@nats-io/jetstream`. */
const toPackageName = (name: string) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
