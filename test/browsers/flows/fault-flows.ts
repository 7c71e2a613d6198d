import type { Flows } from '../scene.ts'

export const FAULT_FLOWS: Flows = {
  async 'while ClickHouse is away, votes stay and the history says that it is missing'(t, scene) {
    const { tab, open, call, clickhouse } = scene
    const [{ id }] = await call('get', '/monitors?q=127.0.0.1')
    await clickhouse.cut()
    await open(`/monitors/${id}`)
    await tab.waitForText(/The checks cannot be shown: .+\./)
    await tab.waitForText(/The response times cannot be shown: .+\./)
    t.match(await tab.readText('#votes'), /\d of \d votes (is|are) failing/)
    await clickhouse.restore()
    // a page with a live stream reads the history again each minute, and when its window gets the focus
    const isShown = '!/cannot be shown|are from/.test(document.body.innerText)'
    await tab.waitUntil(`dispatchEvent(new Event('focus')) && ${isShown}`)
  },

  async 'while PostgreSQL is away, the page keeps what it has with its age, and recovers by itself'(t, scene) {
    const { tab, open, postgres } = scene
    await open('/monitors')
    await tab.waitUntil(`document.querySelector('tr[data-id]')`)
    await tab.read('window.mark = 1')
    await postgres.cut()
    await tab.waitForText(/The monitors are from .+ ago/)
    t.ok(await tab.read(`document.querySelectorAll('tr[data-id]').length`), 'the rows stay')
    await postgres.restore()
    await tab.waitForNoText(/are from|cannot be shown/)
    t.equal(await tab.read('window.mark'), 1)
  },

  async 'when the connection is cut, the page says since when, and shows what changed in the meantime'(t, scene) {
    const { tab, open, proxy, call } = scene
    const [{ id }] = await call('get', '/monitors')
    await open('/monitors')
    await tab.waitUntil(`performance.getEntriesByName('picket-live').length > 0`)
    await tab.read('window.mark = 1')
    await proxy.cut()
    await tab.waitForText(/No contact with the server since \d\d:\d\d:\d\d\. What you see is from that time\./)
    await call('put', `/monitors/${id}`, { name: 'Changed meanwhile' })
    await proxy.restore()
    await tab.waitForText(/Changed meanwhile/)
    await tab.waitForNoText(/No contact with the server/)
    t.equal(await tab.read('window.mark'), 1, 'the page was not loaded again')
  },

  async 'an open page says that the server has a new version, and the next page is loaded whole'(t, scene) {
    const { tab, open, picket } = scene
    await open('/incidents')
    await tab.waitUntil(`performance.getEntriesByName('picket-live').length > 0`)
    await tab.read('window.mark = 1')
    await picket.controlPlane.stop()
    picket.controlPlane.start({ BUILD_ID: 'two' })
    await picket.controlPlane.untilEvent('ready')
    await tab.waitForText(/The server has a new version\./)
    t.equal(await tab.read('window.mark'), 1, 'nothing is loaded before a person navigates')
    await tab.click('nav a', 'Monitors')
    await tab.waitForPath('/monitors')
    await tab.waitUntil(`window.mark === undefined && document.querySelector('button.search:enabled')`)
    await tab.waitForNoText(/The server has a new version/)
  },
}
