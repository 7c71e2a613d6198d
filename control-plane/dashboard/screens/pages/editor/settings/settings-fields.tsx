import type { OperationError } from '../../../../core/operations.ts'
import { buildFormErrors, type FormErrors } from '../../../../parts/forms/field-errors.ts'
import {
  CheckField,
  describeControl,
  Field,
  FieldGroup,
  SelectField,
  TextField,
} from '../../../../parts/forms/fields.tsx'
import { TEMPLATE_OPTIONS } from '../../template-labels.ts'
import type { Judgement } from '../preview/use-preview.ts'
import { CssField } from './css-field.tsx'
import { ImageField } from './image-field.tsx'
import { isColor, type PageDraft, type PageRecord } from './page-form.ts'

type FieldsProps = {
  page: PageRecord
  form: PageDraft
  judgement: Judgement
  error: OperationError | null
  change(part: Partial<PageDraft>): void
  /** `url`: the new address of the image that was stored */
  onUpload(kind: 'logo' | 'favicon', url: string | null): void
}

/** What a page looks like. */
export function SettingsFields({ page, form, judgement, error, change, onUpload }: FieldsProps) {
  const errors = buildFormErrors(error?.details ?? [])
  const brand = { path: 'brand_color', label: 'Colour', errors }
  return (
    <>
      <TextField
        path="name"
        label="Name"
        value={form.name}
        errors={errors}
        isRequired
        onChange={name => change({ name })}
      />
      <SelectField
        path="template"
        label="Template"
        value={form.template}
        options={TEMPLATE_OPTIONS}
        errors={errors}
        onChange={template => change({ template })}
      />
      <Field {...brand} hint="Texts in this colour get the nearest readable shade.">
        <div class="joined color">
          <input
            type="color"
            aria-label="Choose the colour"
            value={[form.brand_color, page.brand_color].find(isColor)?.toLowerCase()}
            onInput={event => change({ brand_color: event.currentTarget.value })}
          />
          <input
            {...describeControl({ ...brand, hint: true })}
            value={form.brand_color}
            autocomplete="off"
            spellcheck={false}
            onInput={event => change({ brand_color: event.currentTarget.value.trim() })}
          />
        </div>
      </Field>
      <CheckField
        path="show_uptime_percentage"
        label="Show the uptime of 90 days"
        value={form.show_uptime_percentage}
        errors={errors}
        onChange={value => change({ show_uptime_percentage: value })}
      />
      <CheckField
        path="show_response_times"
        label="Show response times"
        hint="When they are hidden, they are also left out of feeds and JSON."
        value={form.show_response_times}
        errors={errors}
        onChange={value => change({ show_response_times: value })}
      />
      <SeldomChanged {...{ page, form, judgement, change, onUpload, errors }} />
    </>
  )
}

/** What is set once, folded until then. */
const SeldomChanged = ({
  page,
  form,
  judgement,
  change,
  onUpload,
  errors,
}: Omit<FieldsProps, 'error'> & { errors: FormErrors }) => (
  <div class="groups">
    <FieldGroup
      title="Logo and favicon"
      summary={describeImages(page)}
      isOpen={errors.isBelow(['logo_url', 'favicon_url']) || Boolean(page.logo_problem || page.favicon_problem)}
    >
      {(['logo', 'favicon'] as const).map(kind => (
        <ImageField key={kind} {...{ kind, page, form, errors, change }} onUpload={url => onUpload(kind, url)} />
      ))}
    </FieldGroup>
    <FieldGroup
      title="Search engines"
      summary={form.seo_title || form.seo_description ? 'custom texts' : 'texts made from the name'}
      isOpen={errors.isBelow(['seo_title', 'seo_description'])}
    >
      <TextField
        path="seo_title"
        label="Title"
        value={form.seo_title}
        errors={errors}
        onChange={value => change({ seo_title: value })}
      />
      <TextField
        path="seo_description"
        label="Description"
        value={form.seo_description}
        errors={errors}
        onChange={value => change({ seo_description: value })}
      />
    </FieldGroup>
    <FieldGroup
      title="Custom CSS"
      summary={form.custom_css ? `${form.custom_css.split('\n').length} lines` : 'none'}
      isOpen={page.custom_css !== null || errors.isBelow(['custom_css'])}
    >
      <CssField
        value={form.custom_css}
        problems={judgement.problems}
        isJudging={judgement.isJudging}
        errors={judgement.problems.length > 0 ? buildFormErrors([]) : errors}
        onChange={value => change({ custom_css: value })}
      />
    </FieldGroup>
  </div>
)

const describeImages = ({ logo_url: logo, favicon_url: favicon }: PageRecord): string =>
  logo && favicon ? 'both' : logo ? 'a logo' : favicon ? 'a favicon' : 'none'
