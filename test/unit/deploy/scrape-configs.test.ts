import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { manifests, readText, readYaml } from '../../support/deployment.ts'

const RULES = 'deploy/monitoring/alerts.yaml'
const [, chapter = ''] = /^## What to watch$(.*?)^### /ms.exec(readText('docs/deployment.md')) ?? []
const texts = [...chapter.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text)
const [kubernetes, compose] = texts.map(text => parse(text))

t.test('Prometheus accepts the configurations of deployment.md, whose jobs are those of the rules', t => {
  t.equal(texts.length, 2)
  const jobsOfRules = new Set([...readText(RULES).matchAll(/job="([^"]+)"/g)].map(([, job]) => job))
  for (const text of texts) {
    const folder = mkdtempSync(join(tmpdir(), 'picket-scrapes-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'alerts.yaml'), readText(RULES))
    // Debian's Prometheus is built without it
    const known = text.replaceAll('kubernetes_sd_configs: [{ role: pod }]', 'static_configs: [{ targets: [] }]')
    writeFileSync(join(folder, 'prometheus.yaml'), known)
    t.match(
      execFileSync('promtool', ['check', 'config', 'prometheus.yaml'], { cwd: folder, encoding: 'utf8' }),
      /SUCCESS/,
    )
    t.same(new Set(parse(text).scrape_configs.map((one: { job_name: string }) => one.job_name)), jobsOfRules)
  }
  t.end()
})

t.test('The configuration for Kubernetes selects the port with metrics of every pod', t => {
  const pods = manifests().filter(({ spec }) => spec?.template)
  t.ok(pods.length > 3)
  const selected = kubernetes.scrape_configs.map(
    ({ relabel_configs: [keep] }: { relabel_configs: [{ regex: string }] }) => keep.regex,
  )
  for (const { path, spec } of pods) {
    const name = spec.template.metadata.labels['app.kubernetes.io/name']
    const port = name === 'picket' ? 8081 : 9464
    const ports: { name: string; containerPort: number }[] = spec.template.spec.containers[0].ports
    const found = ports.filter(one => selected.includes(`${name};${one.name}`))
    t.same(
      found.map(({ containerPort }) => containerPort),
      [port],
      path,
    )
  }
  t.end()
})

t.test('The configuration for Compose lists every control plane and probe, in the network of the file', t => {
  const { name, services } = readYaml('deploy/compose/compose.yaml')
  t.ok(chapter.includes(`docker run --network ${name}_default `))
  const targets = compose.scrape_configs.flatMap(
    ({ static_configs: [{ targets }] }: { static_configs: [{ targets: string[] }] }) => targets,
  )
  const expected = Object.keys(services).flatMap(service => {
    if (service.startsWith('control-plane-')) return [`${service}:${services[service].environment.OPERATOR_PORT}`]
    if (service.startsWith('probe-'))
      return [`${service}:${services[service].environment.METRICS_ADDRESS.split(':')[1]}`]
    return []
  })
  t.same(targets.toSorted(), expected.toSorted())
  t.end()
})
