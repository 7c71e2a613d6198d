import type { TemplateName } from '../../core/types.ts'
import type { PageTemplate } from '../template.ts'
import { brand } from './brand.tsx'
import { clean } from './clean.tsx'
import { developer } from './developer.tsx'
import { minimal } from './minimal.tsx'
import { modern } from './modern.tsx'
import { terminal } from './terminal.tsx'

/** Every template; its CSS is the file of the same name beside it. */
export const TEMPLATES: Record<TemplateName, PageTemplate> = { minimal, brand, terminal, modern, clean, developer }
