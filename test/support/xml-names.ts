import { SaxesParser } from 'saxes'

/** Throws unless the text is well-formed XML with namespaces. Returns the names of all elements and attributes. */
export function parseNames(xml: string): { elements: Set<string>; attributes: Set<string> } {
  const names = { elements: new Set<string>(), attributes: new Set<string>() }
  const parser = new SaxesParser({ xmlns: true })
  parser.on('error', error => {
    throw error
  })
  parser.on('opentag', tag => {
    names.elements.add(tag.name)
    for (const name of Object.keys(tag.attributes)) names.attributes.add(name)
  })
  parser.write(xml).close()
  return names
}

/** The texts of all elements with one of these names. */
export function parseTexts(xml: string, ...names: string[]): string[] {
  const texts: string[] = []
  const parser = new SaxesParser({ xmlns: true })
  let text = ''
  const add = (more: string) => {
    text += more
  }
  parser.on('opentag', () => {
    text = ''
  })
  parser.on('text', add)
  parser.on('cdata', add)
  parser.on('closetag', ({ name }) => {
    if (names.includes(name)) texts.push(text)
  })
  parser.write(xml).close()
  return texts
}
