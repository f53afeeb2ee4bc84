import * as fc from 'fast-check'
import type { Schema } from '../../server/http/openapi.ts'
import type { Dice } from './dice.ts'

/**
 * Values by a JSON schema: mostly ones that it allows, at its edges as well, and now and then one that it does not. `hints` are
 * values that make sense for a field of that name.
 */
export function createValues(options: {
  dice: Dice
  seed: number
  schemas: Record<string, Schema>
  hints: (name: string) => readonly unknown[] | undefined
}) {
  const { dice, schemas } = options
  const texts = new Map<string, string[]>()

  return { valid, strange, broken }

  function valid(schema: Schema, name = ''): unknown {
    const hints = options.hints(name)
    if (hints && hints.length > 0 && dice.chance(0.8)) return dice.pick(hints)
    if (schema.$ref !== undefined) return valid(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {}, name)
    const forms = schema.anyOf ?? (schema.oneOf as Schema[] | undefined)
    if (forms) return valid(dice.pick(forms), name)
    if (schema.enum) return dice.pick(schema.enum)
    if ('const' in schema) return schema.const
    const type = dice.pick([schema.type ?? 'string'].flat())
    if (type === 'null') return null
    if (type === 'boolean') return dice.chance(0.5)
    if (type === 'integer' || type === 'number') return number(schema)
    if (type === 'array') {
      const least = Number(schema.minItems ?? 0)
      const length = dice.chance(0.02) ? Number(schema.maxItems ?? least + 3) : Math.min(Number(schema.maxItems ?? 3), least + dice.between(0, 2))
      return Array.from({ length }, () => valid(schema.items ?? {}, name.replace(/s$/, '')))
    }
    if (type === 'object')
      return Object.fromEntries(
        Object.entries(schema.properties ?? {})
          .filter(([key]) => (schema.required?.includes(key) ?? false) || dice.chance(0.4))
          .map(([key, property]) => [key, valid(property, key)]),
      )
    return text(schema)
  }

  function number({ minimum, maximum }: Schema): number {
    const [low, high] = [Number(minimum ?? 0), Number(maximum ?? 1_000_000)]
    return dice.pick([low, high, dice.between(low, high)])
  }

  function text({ pattern, minLength = 0, maxLength = 40, format }: Schema): string {
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
    return dice.pick(known)
  }

  /** Anything at all. */
  function strange(): unknown {
    return dice.pick<unknown>([
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

  /** A body that was in order, with one thing put out of order. */
  function broken(value: unknown): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || dice.chance(0.1)) return strange()
    const fields = Object.keys(value)
    if (fields.length === 0 || dice.chance(0.3))
      return { ...value, [dice.pick(['extra', 'id', '__proto__', 'constructor', 'account_id'])]: strange() }
    const field = dice.pick(fields)
    const { [field]: old, ...rest } = value as Record<string, unknown>
    if (dice.chance(0.3)) return rest
    return { ...rest, [field]: dice.chance(0.5) && typeof old === 'object' && old !== null ? broken(Array.isArray(old) ? old[0] : old) : strange() }
  }
}

export type Values = ReturnType<typeof createValues>
