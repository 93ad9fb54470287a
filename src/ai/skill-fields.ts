import * as z from 'zod/mini';

/** The reference to a skill in the input of a tool. */
export const skillReference: z.ZodMiniString = z.string().check(z.minLength(1), z.maxLength(300));
/** A path below the folder of a skill. */
export const filePath: z.ZodMiniString = z.string().check(z.minLength(1), z.maxLength(4_096));
/** Description of {@link skillReference}. */
export const SKILL_FIELD = 'Id of the skill, as list_skills gives it.';
