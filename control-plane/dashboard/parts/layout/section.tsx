import type { ComponentChildren } from 'preact'

/** A part of a screen with a heading. `id`: also its address within the page. */
export const Section = ({
  id,
  title,
  aside,
  children,
}: {
  id: string
  title: string
  /** to the right of the heading */
  aside?: ComponentChildren
  children: ComponentChildren
}) => (
  <section id={id} aria-labelledby={`${id}-title`}>
    <div class="section-head">
      <h2 id={`${id}-title`}>{title}</h2>
      {aside}
    </div>
    {children}
  </section>
)

/** A place that scrolls sideways when its table is too wide. It has the focus, so that the arrow keys scroll it. */
export const Scroll = ({ name, children }: { name: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/useSemanticElements: a fieldset is for controls
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll (WCAG 2.1.1)
  <div class="scroll" role="group" aria-label={name} tabIndex={0}>
    {children}
  </div>
)

/** Name and value pairs in rows. A pair without a value is left out. */
export const Facts = ({ rows }: { rows: [name: string, value: ComponentChildren][] }) => (
  <dl class="facts">
    {rows
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
