import t from 'tap'
import { nameScene, SCENES } from '../../support/dashboard-scenes.ts'
import { renderScreen } from '../../support/dashboard-screens.tsx'

const ELEMENTS = /<fieldset([^>]*)>|(<\/fieldset>)|<button([^>]*)>(.*?)<\/button>/gs
const isDisabled = (attributes = '') => /\sdisabled(?=[\s=]|$)/.test(attributes)

/** The texts of the buttons of scripts that can be clicked. Others submit a form, which works without. */
function listUsable(html: string): string[] {
  const fieldsets: boolean[] = []
  const texts: string[] = []
  for (const [tag, fieldset, end, attributes = '', text = ''] of html.matchAll(ELEMENTS)) {
    if (end) fieldsets.pop()
    else if (tag.startsWith('<fieldset')) fieldsets.push(isDisabled(fieldset))
    else if (attributes.includes('type="button"') && !isDisabled(attributes) && !fieldsets.includes(true))
      texts.push(text.replace(/<[^>]*>/g, ''))
  }
  return texts
}

t.test('Until the scripts of a page run, no button looks usable that would do nothing', async t => {
  let usable = 0
  for (const scene of SCENES) {
    const read = (isInteractive: boolean) => renderScreen(scene.address, { ...scene.state, isInteractive }).html
    const [before, after] = [listUsable(read(false)), listUsable(read(true))]
    t.same(before, [], nameScene(scene))
    usable += after.length
  }
  t.ok(usable > 300, `afterwards ${usable} are usable`)
})
