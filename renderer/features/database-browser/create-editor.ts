import { autocompletion, closeBrackets, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { PostgreSQL, sql } from '@codemirror/lang-sql'
import { bracketMatching, syntaxHighlighting } from '@codemirror/language'
import { Prec } from '@codemirror/state'
import { drawSelection, EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view'
import { classHighlighter } from '@lezer/highlight'
import type { DatabaseTable } from '../../../server/contract/database-browser.ts'

interface EditorOptions {
  parent: HTMLElement
  text: string
  tables: readonly DatabaseTable[]
  onChange: (text: string) => void
  onRun: () => void
}

export interface SqlEditorHandle {
  setText(text: string): void
  /** From 1, as PostgreSQL reports it. */
  showPosition(position: number): void
  destroy(): void
}

/** An editor for SQL that completes names of tables and columns. Tab moves the focus, as everywhere. */
export function createEditor({ parent, text, tables, onChange, onRun }: EditorOptions): SqlEditorHandle {
  const run = () => {
    onRun()
    return true
  }
  const view = new EditorView({
    parent,
    doc: text,
    extensions: [
      Prec.highest(keymap.of([{ key: 'Mod-Enter', run, preventDefault: true }])),
      lineNumbers(),
      history(),
      drawSelection(),
      bracketMatching(),
      closeBrackets(),
      autocompletion(),
      keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
      sql({ dialect: PostgreSQL, schema: namesOf(tables), defaultSchema: 'public' }),
      syntaxHighlighting(classHighlighter),
      placeholder('SELECT …'),
      EditorView.contentAttributes.of({ 'aria-label': 'SQL' }),
      EditorView.lineWrapping,
      EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString())),
      theme,
    ],
  })
  return {
    setText(next) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
      view.focus()
    },
    showPosition(position) {
      view.dispatch({ selection: { anchor: Math.min(position - 1, view.state.doc.length) }, scrollIntoView: true })
      view.focus()
    },
    destroy: () => view.destroy(),
  }
}

function namesOf(tables: readonly DatabaseTable[]): Record<string, Record<string, string[]>> {
  const schemas: Record<string, Record<string, string[]>> = {}
  for (const { schema, name, columns } of tables) (schemas[schema] ??= {})[name] = columns.map((column) => column.name)
  return schemas
}

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--code)', fontSize: 'var(--size-2)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', minHeight: '140px', maxHeight: '40vh', overflow: 'auto' },
  '.cm-content': { padding: 'var(--space-3) 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft)' },
  '.cm-gutters': { color: 'var(--ink-3)', backgroundColor: 'var(--code)', border: '0', paddingLeft: 'var(--space-2)' },
  '.cm-placeholder': { color: 'var(--ink-3)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--mark) !important', color: 'var(--on-mark) !important' },
  '.cm-tooltip': { backgroundColor: 'var(--surface)', border: '1px solid var(--line-strong)', color: 'var(--ink)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.tok-keyword': { color: 'var(--ansi-blue)' },
  '.tok-string, .tok-string2': { color: 'var(--ansi-green)' },
  '.tok-number, .tok-bool': { color: 'var(--ansi-magenta)' },
  '.tok-comment': { color: 'var(--ink-3)' },
  '.tok-typeName': { color: 'var(--ansi-cyan)' },
})
