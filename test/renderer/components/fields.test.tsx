import { createEvent, fireEvent, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { EnvironmentSelect } from '../../../renderer/components/environment-select.tsx'
import { FileField } from '../../../renderer/components/file-field.tsx'
import { LinesField, SelectField, SwitchField, TextField } from '../../../renderer/components/field.tsx'
import { FilterInput } from '../../../renderer/components/filter-input.tsx'
import { FilterSelect } from '../../../renderer/components/filter-select.tsx'
import { SegmentedControl } from '../../../renderer/components/segmented-control.tsx'
import { renderPart } from '../../support/dashboard.tsx'

const noop = () => undefined

test.each<[string, (state: { error?: string }) => React.JSX.Element]>([
  ['a text', (state) => <TextField label="Name" hint="Its name." value="" onChange={noop} {...state} />],
  ['lines', (state) => <LinesField label="Name" hint="Its name." value="" onChange={noop} {...state} />],
  ['a choice', (state) => <SelectField label="Name" hint="Its name." value="" onChange={noop} {...state} />],
  ['a switch', (state) => <SwitchField label="Name" hint="Its name." checked={false} onChange={noop} {...state} />],
])('a field for %s has a hint, or an error instead', (name, create) => {
  const { text } = renderPart(create({}))
  expect(text()).toBe('Name Its name.')
  expect(screen.getByLabelText('Name').getAttribute('aria-invalid')).toBeNull()
  expect(screen.queryByRole('alert')).toBeNull()
  document.body.replaceChildren()
  renderPart(create({ error: 'It is too long.' }))
  const alert = screen.getByRole('alert')
  expect(alert.textContent).toBe('It is too long.')
  expect(screen.getByLabelText('Name').getAttribute('aria-describedby')).toBe(alert.id)
  expect(screen.getByLabelText('Name').getAttribute('aria-invalid')).toBe(name === 'a text' || name === 'lines' ? 'true' : null)
})

test.each([true, false])('a switch that is on (%s) is switched', async (checked) => {
  const onChange = vi.fn()
  const { user } = renderPart(<SwitchField label="Cache" checked={checked} onChange={onChange} />)
  await user.click(screen.getByRole('switch', { name: 'Cache' }))
  expect(onChange.mock.calls).toEqual([[!checked]])
})

test.each<[string | null, { branch: string }[] | undefined, string[]]>([
  [null, undefined, []],
  [null, [], []],
  [null, [{ branch: 'docs' }, { branch: 'docs' }], ['Production', 'Preview of docs']],
  ['gone', [{ branch: 'docs' }], ['Production', 'Preview of gone', 'Preview of docs']],
])('the environments for the branch %s and the previews %j', async (branch, previews, options) => {
  const onChange = vi.fn()
  const { user } = renderPart(<EnvironmentSelect branch={branch} previews={previews} onChange={onChange} />)
  expect(screen.queryAllByRole('option').map(({ textContent }) => textContent)).toEqual(options)
  if (options.length === 0) return
  expect(screen.getByLabelText('Environment')).toMatchObject({ value: branch ?? '', disabled: false })
  await user.selectOptions(screen.getByLabelText('Environment'), 'docs')
  await user.selectOptions(screen.getByLabelText('Environment'), '')
  expect(onChange.mock.calls.filter(([chosen]) => chosen !== branch)).toEqual(branch === null ? [['docs']] : [['docs'], [null]])
})

test('environments that cannot be chosen now', () => {
  renderPart(<EnvironmentSelect branch="docs" previews={[]} disabled onChange={noop} />)
  expect(screen.getByLabelText('Environment')).toHaveProperty('disabled', true)
})

const openFile = (state: Partial<React.ComponentProps<typeof FileField>> = {}) => {
  const onSelect = vi.fn()
  return {
    ...renderPart(
      <FileField label="Dump" accept=".sql" hint="An SQL file." file={null} error={null} disabled={false} onSelect={onSelect} {...state} />,
    ),
    onSelect,
  }
}
const sql = new File(['SELECT 1'], 'shop.sql')

test.each<[string, Partial<React.ComponentProps<typeof FileField>>, string]>([
  ['none', {}, '[Dump] Drop a file here or choose one. An SQL file. Choose file…'],
  ['one', { file: { name: 'shop.sql', size: 2000 } }, '[Dump] shop.sql 2 kB An SQL file. Choose another file…'],
  ['an invalid one', { error: 'It is empty.' }, '[Dump] Drop a file here or choose one. An SQL file. Choose file… It is empty.'],
])('a file: %s', (_, state, expected) => expect(openFile(state).text()).toBe(expected))

test.each([
  [false, [sql], 2],
  [false, [], 0],
  [true, [sql], 0],
])('a file field that is disabled (%s) takes the files %j', (disabled, files, calls) => {
  const { onSelect } = openFile({ disabled })
  fireEvent.change(screen.getByLabelText('Dump'), { target: { files } })
  const drop = createEvent.drop(screen.getByLabelText('Dump'), { dataTransfer: { files } })
  fireEvent(screen.getByLabelText('Dump'), drop)
  expect(drop.defaultPrevented).toBe(true)
  expect(onSelect.mock.calls).toEqual(Array.from({ length: calls }, () => [files]))
  expect(screen.getByRole('button')).toHaveProperty('disabled', disabled)
})

test('the button of a file field opens the file dialog', async () => {
  const { user } = openFile()
  const click = vi.spyOn(HTMLInputElement.prototype, 'click').mockReturnValue()
  await user.click(screen.getByRole('button'))
  expect(click).toHaveBeenCalledOnce()
  click.mockRestore()
})

test.each<[string, string[][]]>([
  ['/api{Enter}', [['/api']]],
  [' /api {Enter}', [['/api']]],
  ['/api', []],
  [' {Enter}', []],
])('the typed filter %j is applied as %j', async (keys, calls) => {
  const onChange = vi.fn()
  const { user } = renderPart(<FilterInput label="Path" placeholder="Path" value="" onChange={onChange} />)
  await user.type(screen.getByLabelText('Path'), keys)
  expect(onChange.mock.calls).toEqual(calls)
})

test('a filter is applied when the focus leaves it, and removed', async () => {
  const onChange = vi.fn()
  const { user } = renderPart(<FilterInput label="Path" placeholder="Path" value="/api" onChange={onChange} />)
  expect(screen.getByLabelText('Path')).toHaveProperty('value', '/api')
  await user.clear(screen.getByLabelText('Path'))
  await user.tab()
  expect(onChange.mock.calls).toEqual([['']])
})

test('a choice filters, and another removes the filter', async () => {
  const onChange = vi.fn()
  const { user } = renderPart(<FilterSelect label="Cache" all="Any result" value="hit" choices={{ hit: 'Hit', miss: 'Miss' }} onChange={onChange} />)
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual(['Any result', 'Hit', 'Miss'])
  await user.selectOptions(screen.getByLabelText('Cache'), 'miss')
  await user.selectOptions(screen.getByLabelText('Cache'), '')
  expect(onChange.mock.calls).toEqual([['miss'], ['']])
})

test('one of several segments is chosen, and stays chosen', async () => {
  const onChange = vi.fn()
  const choices = [
    { value: 'list', text: 'List' },
    { value: 'grid', text: 'Grid' },
  ] as const
  const { user } = renderPart(<SegmentedControl label="View" value="list" choices={choices} onChange={onChange} />)
  expect(screen.getAllByRole('radio').map((one) => one.getAttribute('aria-checked'))).toEqual(['true', 'false'])
  await user.click(screen.getByRole('radio', { name: 'Grid' }))
  await user.click(screen.getByRole('radio', { name: 'List' }))
  expect(onChange.mock.calls).toEqual([['grid']])
})
