import { mailedLink, type Smtp } from './mailed-link.ts'
import { createVisitor } from './visitor.ts'

/** Sets a password as the owner of an address, by the link of a reset email; `count`: the number of that email. */
export async function proveAddress(origin: string, smtp: Smtp, email: string, count = 1) {
  const owner = createVisitor(origin)
  await owner.post('/forgot-password', { email })
  const link = new URL(await mailedLink(smtp, email, count)).pathname
  const { location } = await owner.post(link, { password: 'the owner chose this one' })
  return { owner, location }
}

/** The forms of the page, by what each decides. */
export function parseRows(text: string) {
  const forms = [...text.matchAll(/<form[^>]*action="\/account\/access".*?<\/form>/gs)].map(([form]) => form)
  const parseFieldValue = (form: string, name: string) =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(form)?.[1] ?? ''
  return forms.map(form => ({
    organization_id: parseFieldValue(form, 'organization_id'),
    kind: parseFieldValue(form, 'kind'),
    id: parseFieldValue(form, 'id'),
  }))
}
