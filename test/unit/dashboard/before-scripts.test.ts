import t from 'tap'
import { nameScene, SCENES } from '../../support/dashboard-scenes.ts'
import { renderScreen } from '../../support/dashboard-screens.tsx'

const ELEMENTS = /<fieldset([^>]*)>|(<\/fieldset>)|<button([^>]*)>(.*?)<\/button>/gs
const isDisabled = (attributes = '') => /\sdisabled(?=[\s=]|$)/.test(attributes)

/** The texts of the buttons of scripts that can be clicked. Others submit a form, which works without. */
function listUsable(html: string): string[] {
  const fieldsets: boolean[] = []
  const usable: string[] = []
  for (const [tag, fieldset, end, attributes = '', text = ''] of html.matchAll(ELEMENTS)) {
    if (end) fieldsets.pop()
    else if (tag.startsWith('<fieldset')) fieldsets.push(isDisabled(fieldset))
    else if (attributes.includes('type="button"') && !isDisabled(attributes) && !fieldsets.includes(true))
      usable.push(text.replace(/<[^>]*>/g, ''))
  }
  return usable
}

t.test('Until the scripts of a page run, no button looks usable that would do nothing', async t => {
  const counts = { off: 0, on: 0 }
  for (const scene of SCENES) {
    const read = (isInteractive: boolean) => renderScreen(scene.address, { ...scene.state, isInteractive }).html
    const [before, after] = [listUsable(read(false)), listUsable(read(true))]
    t.same(before, [], nameScene(scene))
    counts.off += before.length
    counts.on += after.length
  }
  t.ok(counts.on > 300, `afterwards ${counts.on} are usable`)
})
