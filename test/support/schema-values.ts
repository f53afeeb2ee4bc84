import * as fc from 'fast-check'
import type { JsonSchema } from '../../server/api/openapi/types.ts'
import type { SeededRandom } from './seeded-random.ts'

/**
 * Generates values for a JSON schema: mostly valid ones, including edge cases, and sometimes an invalid one. `hints` are sensible values for fields
 * by name.
 */
export function createSchemaValues(options: {
  random: SeededRandom
  seed: number
  schemas: Record<string, JsonSchema>
  hints: (name: string) => readonly unknown[] | undefined
}) {
  const { random, schemas } = options
  const texts = new Map<string, string[]>()

  return { valid: generateValid, strange: generateStrange, broken: generateInvalid }

  function generateValid(schema: JsonSchema, name = ''): unknown {
    const hints = options.hints(name)
    if (hints && hints.length > 0 && random.chance(0.8)) return random.pick(hints)
    if (schema.$ref !== undefined) return generateValid(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {}, name)
    const forms = schema.anyOf ?? (schema.oneOf as JsonSchema[] | undefined)
    if (forms) return generateValid(random.pick(forms), name)
    if (schema.enum) return random.pick(schema.enum)
    if ('const' in schema) return schema.const
    const type = random.pick([schema.type ?? 'string'].flat())
    if (type === 'null') return null
    if (type === 'boolean') return random.chance(0.5)
    if (type === 'integer' || type === 'number') return generateNumber(schema)
    // A tuple.
    if (Array.isArray(schema.prefixItems)) return (schema.prefixItems as JsonSchema[]).map((item) => generateValid(item))
    if (type === 'array') {
      const least = Number(schema.minItems ?? 0)
      const length = random.chance(0.02) ? Number(schema.maxItems ?? least + 3) : Math.min(Number(schema.maxItems ?? 3), least + random.between(0, 2))
      return Array.from({ length }, () => generateValid(schema.items ?? {}, name.replace(/s$/, '')))
    }
    if (type === 'object')
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([key]) => (schema.required?.includes(key) ?? false) || random.chance(0.4))
          .map(([key, property]) => [key, generateValid(property, key)]),
      )
    return generateText(schema)
  }

  function generateNumber({ minimum, maximum }: JsonSchema): number {
    const [low, high] = [Number(minimum ?? 0), Number(maximum ?? 1_000_000)]
    return random.pick([low, high, random.between(low, high)])
  }

  function generateText({ pattern, minLength = 0, maxLength = 40, format }: JsonSchema): string {
    const least = Number(minLength)
    const most = Number(maxLength)
    const key = JSON.stringify([pattern, least, most, format])
    let known = texts.get(key)
    if (!known) {
      const length = { minLength: least, maxLength: Math.min(most, least + 30) }
      const any = fc.oneof(fc.string(length), fc.string({ ...length, unit: 'binary' }), fc.constant('x'.repeat(Math.min(most, 10_000))))
      const arbitrary = format === 'email' ? fc.emailAddress() : typeof pattern === 'string' ? fc.stringMatching(new RegExp(pattern, 'u')) : any
      known = fc.sample(arbitrary, { numRuns: 60, seed: options.seed })
      texts.set(key, known)
    }
    return random.pick(known)
  }

  /** Any value. */
  function generateStrange(): unknown {
    return random.pick<unknown>([
      null,
      true,
      -1,
      0,
      1.5,
      1e308,
      2 ** 53,
      '',
      ' ',
      'x'.repeat(11_000),
      '\u0000',
      '\ud800',
      '💥',
      '../..',
      '__proto__',
      [],
      {},
      [[]],
      [null],
      { length: 1 },
      { constructor: 1 },
      "'; drop table projects; --",
      '${7*7}',
      '%00',
      'a\r\nX-Evil: 1',
    ])
  }

  /** A valid body with one invalid part. */
  function generateInvalid(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || random.chance(0.1)) return generateStrange()
    const fields = Object.keys(value)
    if (fields.length === 0 || random.chance(0.3))
      return { ...value, [random.pick(['extra', 'id', '__proto__', 'constructor', 'account_id'])]: generateStrange() }
    const field = random.pick(fields)
    const { [field]: old, ...rest } = value as Record<string, unknown>
    if (random.chance(0.3)) return rest
    return {
      ...rest,
      [field]: random.chance(0.5) && typeof old === 'object' && old !== null ? generateInvalid(Array.isArray(old) ? old[0] : old) : generateStrange(),
    }
  }
}

export type SchemaValues = ReturnType<typeof createSchemaValues>
