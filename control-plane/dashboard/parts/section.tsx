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
