import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../server/http/openapi.ts'

const escaped = (text: string) => text.replaceAll('~', '~0').replaceAll('/', '~1')

/** Reads an OpenAPI document as a client would: does this value fit what stands there? */
export function readDescription(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(document, 'openapi')

  /** What is wrong with a value by the schema at a JSON pointer; nothing: []. */
  function faults(pointer: string, value: unknown): unknown[] {
    const validate = ajv.getSchema(`openapi#${pointer}`)
    if (!validate) throw new Error(`there is nothing at ${pointer}`)
    return validate(value) ? [] : (validate.errors ?? [])
  }

  return {
    faults,
    /** Where an operation, named by method and path, stands. */
    at: (method: string, path: string) => `/paths/${escaped(path)}/${method.toLowerCase()}`,
    /** What is wrong with an answer of an operation: a status that is not named, another type, a body that does not fit. */
    wrong(operation: { method: string; path: string }, answer: { status: number; type: string | null; text: string }): unknown[] {
      const described = document.paths[operation.path]?.[operation.method.toLowerCase()]?.responses[String(answer.status)]
      if (!described) return [`${answer.status} is not named for ${operation.method} ${operation.path}`]
      const types = Object.keys(described.content ?? {})
      const type = answer.type?.split(';')[0] ?? ''
      if (types.length === 0) return answer.text === '' ? [] : ['a body where none is described']
      if (!types.includes(type)) return [`“${type}” where ${types.join(', ')} is described`]
      if (type !== 'application/json') return []
      const pointer = `/paths/${escaped(operation.path)}/${operation.method.toLowerCase()}/responses/${answer.status}/content/${escaped(type)}/schema`
      return faults(pointer, JSON.parse(answer.text))
    },
  }
}

export type Description = ReturnType<typeof readDescription>
