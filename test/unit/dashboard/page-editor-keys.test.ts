import { h, render } from 'preact'
import t from 'tap'
import {
  buildDraftView,
  hideFigures,
  mapComponents,
} from '../../../control-plane/dashboard/screens/pages/editor/preview/draft-view.ts'
import { stageOutage } from '../../../control-plane/dashboard/screens/pages/editor/preview/staged-outage.ts'
import { toPageForm } from '../../../control-plane/dashboard/screens/pages/editor/settings/page-form.ts'
import { TEMPLATE_NAMES } from '../../../control-plane/pages/core/types.ts'
import { PageRoot } from '../../../control-plane/pages/templates/document/body.tsx'
import { buildPage } from '../../support/page-records.ts'
import { ordinaryView } from '../../support/status-page-view.ts'

type FakeNode = { data: string; siblings: FakeNode[]; readonly textContent: string; [key: string]: unknown }

/** As much of a node of a document as a renderer needs. */
function createNode(data = ''): FakeNode {
  const nodes: FakeNode[] = []
  const node: FakeNode = {
    data,
    siblings: [],
    nodeType: 1,
    style: {},
    get firstChild() {
      return nodes[0] ?? null
    },
    get nextSibling() {
      return node.siblings[node.siblings.indexOf(node) + 1] ?? null
    },
    get textContent() {
      return node.data + nodes.map(one => one.textContent).join('')
    },
    ownerDocument: { createElementNS: () => createNode(), createTextNode: (text: string) => createNode(text) },
    setAttribute() {},
    removeAttribute() {},
    insertBefore(child: FakeNode, next: FakeNode | null) {
      nodes.splice(next ? nodes.indexOf(next) : nodes.length, 0, child)
      child.siblings = nodes
    },
  }
  return node
}

for (const template of TEMPLATE_NAMES)
  for (const stage of [stageOutage, null])
    t.test(`A key in the name renders no component again: ${template}, ${stage ? 'outage' : 'real data'}`, async t => {
      let reads = 0
      const view = ordinaryView()
      const form = { ...toPageForm(buildPage()), template }
      const sections = mapComponents(hideFigures(view, form), component =>
        Object.defineProperty({ ...component }, 'status', {
          enumerable: true,
          get: () => {
            reads++
            return component.status
          },
        }),
      )
      const body = createNode()
      const show = (name: string) => {
        const draft = buildDraftView(view, { ...form, name }, null, sections)
        const shown = stage ? stage(draft) : draft
        reads = 0
        render(h(PageRoot, { view: shown }), body as never)
      }
      show('Acme')
      t.ok(reads > 0, 'first all of them')
      show('Acme 2')
      t.match(body.textContent, /Acme 2/)
      t.equal(reads, 0)
    })
