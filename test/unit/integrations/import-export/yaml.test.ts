import { dump, load } from 'js-yaml'
import t from 'tap'
import { formatYaml } from '../../../../control-plane/integrations/import-export/file/yaml.ts'

const list = <T>(length: number, of: (i: number) => T) => Array.from({ length }, (_, i) => of(i))
const monitor = (i: number) => ({
  ...{ id: `${i}`, name: i % 7 === 0 ? 'yes' : `Shop ${i}: "x"`, tags: [], parents: ['a', 'b'] },
  ...{ body: `line\n  line ${i}\n`, rules: list(i % 5, j => ({ channel: `c${j}`, on_down: false })) },
})
const FILE = {
  version: 1,
  alert_settings: { is_digest_enabled: true, digest_threshold: 5 },
  alert_channels: [],
  monitors: list(1_500, monitor),
  maintenance_windows: list(3, i => ({ id: `${i}`, monitors: list(1_000, j => `Shop ${j}`) })),
}

t.test('A long file is formatted in pieces with the same result', async t => {
  let pauses = 0
  const text = await formatYaml(FILE, async () => void pauses++)
  t.ok(text === dump(FILE, { lineWidth: 120, noRefs: true }))
  t.same(load(text), FILE)
  t.ok(pauses >= 15, `${pauses} pauses`)
})
