import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { PROCESS_ROLES } from '../../../control-plane/config.ts'
import { REGIONS } from '../../../shared/checks/check.ts'
import { listVariables, type Manifest, manifests, ROOT, readText, VERSION } from '../../support/deployment.ts'

const all = manifests()
const kustomizations = all.filter(({ kind }) => kind === 'Kustomization')
const resources = all.filter(({ kind }) => kind !== 'Kustomization')
const workloads = resources.filter(({ kind }) => ['Deployment', 'StatefulSet'].includes(kind))
const getContainer = ({ spec }: Manifest) => spec.template.spec.containers[0]
const findSetting = (manifest: Manifest, name: string) =>
  getContainer(manifest).env.find((one: { name: string }) => one.name === name)?.value
const formatLabels = ({ spec }: Manifest) => JSON.stringify(spec.template.metadata.labels)

t.test('The manifests conform to the types of Kubernetes', async t => {
  const wrong: Manifest = { ...structuredClone(workloads[0]!), path: 'wrong' }
  getContainer(wrong).livenesProbe = {}
  t.equal(await complaintsAbout(resources), '')
  t.match(await complaintsAbout([wrong]), /livenesProbe/, 'it does see what is wrong')
})

t.test('deployment.md names each secret, each value to replace and each image of the manifests', t => {
  const [, chapter = ''] = /^## Kubernetes$(.*?)^## /ms.exec(readText('docs/deployment.md')) ?? []
  const text = JSON.stringify(resources)
  const secrets = [...text.matchAll(/"(?:secretRef":\{"name|secretName)":"([\w-]+)"/g)].map(found => found[1]!)
  t.ok(secrets.includes('picket-tls'))
  for (const name of secrets) t.match(chapter, new RegExp(`create secret (generic|tls) ${name} `), name)
  const settings = resources.find(({ kind }) => kind === 'ConfigMap')!.data
  const isPlaceholder = (value: string) => /^<|^choose-/.test(value)
  const replaced = Object.keys(settings).filter(name => isPlaceholder(settings[name]))
  t.ok(replaced.length > 1)
  for (const name of [...replaced, 'FLEET_URL']) t.ok(chapter.includes(`\`${name}\``), name)
  const images = kustomizations.flatMap(({ images = [] }) => images)
  for (const { newName, newTag } of images) t.ok(chapter.includes(`docker push ${newName}:${newTag}`), newName)
  t.end()
})

/** The compiler's errors for the manifests as values of kubernetes-types, which allow no unknown fields. */
async function complaintsAbout(list: Manifest[]): Promise<string> {
  mkdirSync(join(ROOT, 'dist'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, 'dist/manifests-'))
  try {
    const text = list.map(({ path: _, ...manifest }, i) => {
      const [group, version] = manifest.apiVersion.includes('/') ? manifest.apiVersion.split('/') : ['core', 'v1']
      const module = `kubernetes-types/${group!.split('.')[0]}/${version}.js`
      return `export const m${i}: import('${module}').${manifest.kind} = ${JSON.stringify(manifest)}`
    })
    writeFileSync(join(folder, 'all.ts'), text.join('\n'))
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      'node',
    ]
    // a shell, so that the compiler runs without the loader that tap adds to Node processes
    const withoutLoader = ['-c', 'NODE_OPTIONS= exec "$0" "$@"', join(ROOT, 'node_modules/.bin/tsc')]
    await promisify(execFile)('sh', [...withoutLoader, ...options, join(folder, 'all.ts')])
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout || String(error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

t.test('Every role runs twice, and every kustomization names existing files', async t => {
  const roles = workloads.flatMap(one => findSetting(one, 'ROLES')?.split(',') ?? [])
  t.same(roles.sort(), [...PROCESS_ROLES].sort())
  for (const one of workloads) t.equal(one.spec.replicas, 2, one.metadata.name)
  for (const { path, resources: named = [], images = [] } of kustomizations) {
    for (const name of named) t.ok(existsSync(join(ROOT, dirname(path), name)), `${path} ${name}`)
    for (const image of images) t.equal(image.newTag, VERSION)
  }
  const regions = kustomizations.flatMap(({ path }) => /probe-([\w-]+)\//.exec(path)?.[1] ?? [])
  t.equal(regions.length, 2)
  for (const region of regions) t.ok((REGIONS as readonly string[]).includes(region), region)
})

t.test('The memory limit of a pod exceeds its heap', async t => {
  const heaps = workloads.flatMap(one => {
    const [, mebibytes] = /--max-old-space-size=(\d+)/.exec(findSetting(one, 'NODE_OPTIONS') ?? '') ?? []
    return mebibytes ? [{ one, mebibytes: Number(mebibytes) }] : []
  })
  t.same(
    heaps.map(({ one }) => one.metadata.name),
    ['fleet'],
    'it holds every monitor',
  )
  for (const { one, mebibytes } of heaps) {
    const [, gibibytes] = /^(\d+)Gi$/.exec(getContainer(one).resources.limits.memory) ?? []
    t.ok(Number(gibibytes) * 1024 >= mebibytes * 1.25, one.metadata.name)
  }
})

t.test('A start of a control plane may take an hour, for a long migration', async t => {
  const controlPlanes = workloads.filter(one => findSetting(one, 'ROLES'))
  t.equal(controlPlanes.length, 4)
  for (const one of controlPlanes) {
    const { periodSeconds, failureThreshold } = getContainer(one).startupProbe
    t.ok(periodSeconds * failureThreshold >= 3_600, one.metadata.name)
    t.ok(one.spec.progressDeadlineSeconds > 3_600, `${one.metadata.name}: the rollout waits for it`)
  }
})

t.test('Liveness checks that a process works, readiness what its role needs', async t => {
  const askedBy = (one: Manifest, probe: string) => getContainer(one)[probe].httpGet?.path ?? 'its port'
  for (const one of workloads) t.equal(askedBy(one, 'livenessProbe'), '/healthz', one.metadata.name)
  t.same(Object.fromEntries(workloads.map(one => [one.metadata.name, askedBy(one, 'readinessProbe')])), {
    api: '/healthz',
    background: '/readyz',
    fleet: 'its port',
    probe: '/readyz',
    verdict: '/readyz',
  })
})

t.test('The kubelet and Prometheus use the operator’s port, which no Ingress or Service exposes', async t => {
  const settings = resources.find(({ kind }) => kind === 'ConfigMap')!
  t.equal(settings.data.OPERATOR_HOST, '0.0.0.0')
  for (const one of workloads.filter(({ metadata }) => metadata.name !== 'probe')) {
    const { ports, readinessProbe } = getContainer(one)
    const port = ports.find(({ name }: { name: string }) => name === 'operator')
    t.equal(port.containerPort, 8081, one.metadata.name)
    t.equal(one.spec.template.metadata.annotations['prometheus.io/port'], '8081', one.metadata.name)
    if (readinessProbe.httpGet?.path === '/readyz') t.equal(readinessProbe.httpGet.port, 'operator', one.metadata.name)
  }
  const published = resources.filter(({ kind }) => kind === 'Service').flatMap(({ spec }) => spec.ports ?? [])
  t.same(
    published.filter(({ targetPort }: { targetPort: string }) => !['http', 'grpc'].includes(targetPort)),
    [],
  )
})

t.test('The Ingress of pings has the host and the certificate of the other one, and no redirect to TLS', async t => {
  const ingress = (name: string) =>
    resources.find(({ kind, metadata }) => kind === 'Ingress' && metadata.name === name)!
  const [api, pings] = [ingress('api'), ingress('pings')]
  const paths = [api, pings].map(({ spec }) => spec.rules[0].http.paths[0].path)
  t.same(paths, ['/', '/ping'])
  t.same(pings.spec.tls, api.spec.tls)
  t.equal(pings.spec.rules[0].host, api.spec.rules[0].host)
  t.same(pings.spec.rules[0].http.paths[0].backend, api.spec.rules[0].http.paths[0].backend)
  const settings = (manifest: Manifest): Record<string, string> => Reflect.get(manifest.metadata, 'annotations')
  const name = (text: string) => `nginx.ingress.kubernetes.io/${text}`
  t.equal(settings(pings)[name('ssl-redirect')], 'false')
  t.notOk(name('ssl-redirect') in settings(api))
  // a job may send a large log
  for (const one of ['proxy-body-size', 'proxy-request-buffering'].map(name))
    t.equal(settings(pings)[one], settings(api)[one], one)
})

t.test('Pods set only variables that the programs read', async t => {
  for (const one of workloads) {
    const known = listVariables(one.metadata.name === 'probe' ? 'probe-agent' : 'control-plane').add('NODE_OPTIONS')
    const names: string[] = getContainer(one).env.map(({ name }: { name: string }) => name)
    t.same(
      names.filter(name => !known.has(name)),
      [],
      one.metadata.name,
    )
  }
  const settings = resources.find(({ kind }) => kind === 'ConfigMap')!
  t.same(
    Object.keys(settings.data).filter(name => !listVariables('control-plane').has(name)),
    [],
  )
})

t.test('The kubelet and Prometheus use the port on which a probe listens', async t => {
  const probe = workloads.find(({ metadata }) => metadata.name === 'probe')!
  const { ports, livenessProbe, readinessProbe } = getContainer(probe)
  const [port] = ports
  t.equal(findSetting(probe, 'METRICS_ADDRESS'), `0.0.0.0:${port.containerPort}`)
  t.equal(probe.spec.template.metadata.annotations['prometheus.io/port'], String(port.containerPort))
  t.match(
    [livenessProbe, readinessProbe],
    [{ httpGet: { path: '/healthz', port: port.name } }, { httpGet: { path: '/readyz', port: port.name } }],
  )
})

t.test('Pods have no privileges and time to finish their work', async t => {
  for (const one of workloads) {
    const { name } = one.metadata
    const pod = one.spec.template.spec
    t.match(
      pod,
      { automountServiceAccountToken: false, securityContext: { runAsNonRoot: true, runAsUser: 1000 } },
      name,
    )
    t.match(
      getContainer(one).securityContext,
      { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      name,
    )
    t.ok(getContainer(one).resources.limits.memory)
    t.ok(pod.terminationGracePeriodSeconds >= (name === 'probe' ? 80 : 25), `${name} may drain`)
    const budget = resources.find(({ kind, metadata }) => kind === 'PodDisruptionBudget' && metadata.name === name)
    t.equal(JSON.stringify(budget?.spec.selector.matchLabels), formatLabels(one), `${name} has a disruption budget`)
  }
  for (const { metadata, spec } of resources.filter(({ kind }) => kind === 'Service')) {
    const chosen = workloads.filter(one => formatLabels(one) === JSON.stringify(spec.selector))
    t.equal(chosen.length, 1, `the service ${metadata.name} leads somewhere`)
  }
})
