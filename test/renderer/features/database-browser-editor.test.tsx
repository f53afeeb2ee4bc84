import { EditorView } from '@codemirror/view'
import { expect, test, vi } from 'vitest'
import { createEditor } from '../../../renderer/features/database-browser/create-editor.ts'

function openEditor(text: string) {
  const parent = document.createElement('div')
  document.body.append(parent)
  const [onChange, onRun] = [vi.fn(), vi.fn()]
  const editor = createEditor({ parent, text, tables: [], onChange, onRun })
  const view = EditorView.findFromDOM(parent)
  if (!view) throw new Error('There is no editor.')
  return { parent, editor, view, onChange, onRun }
}

test('the editor begins with a text, and reports another one', () => {
  const { editor, view, onChange } = openEditor('SELECT 1')
  expect(view.state.doc.toString()).toBe('SELECT 1')
  editor.setText('SELECT 2')
  expect(view.state.doc.toString()).toBe('SELECT 2')
  expect(onChange.mock.calls).toEqual([['SELECT 2']])
})

test.each([
  [1, 0],
  [4, 3],
  [100, 8],
])('the position %i of PostgreSQL is the offset %i', (position, offset) => {
  const { editor, view, onChange } = openEditor('SELECT 1')
  editor.showPosition(position)
  expect(view.state.selection.main.anchor).toBe(offset)
  expect(onChange.mock.calls).toEqual([])
})

test.each([
  ['Ctrl and Enter', { key: 'Enter', keyCode: 13, ctrlKey: true }, 1],
  ['Enter', { key: 'Enter', keyCode: 13 }, 0],
])('%s in the editor', (_, keys, count) => {
  const { view, onRun } = openEditor('SELECT 1')
  view.contentDOM.dispatchEvent(new KeyboardEvent('keydown', { ...keys, bubbles: true, cancelable: true }))
  expect(onRun.mock.calls).toHaveLength(count)
})

test('the editor can be removed', () => {
  const { parent, editor } = openEditor('SELECT 1')
  editor.destroy()
  expect(parent.children).toHaveLength(0)
})
