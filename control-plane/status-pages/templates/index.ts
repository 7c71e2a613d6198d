import type { Template as TemplateName } from '../types.ts'
import { brand } from './brand.tsx'
import { clean } from './clean.tsx'
import { developer } from './developer.tsx'
import { minimal } from './minimal.tsx'
import { modern } from './modern.tsx'
import type { Template } from './page.ts'
import { terminal } from './terminal.tsx'

/** Every template; its CSS is the file of the same name beside it. */
export const TEMPLATES: Record<TemplateName, Template> = { minimal, brand, terminal, modern, clean, developer }
