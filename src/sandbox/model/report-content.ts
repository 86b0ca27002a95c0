/**
 * The content of a report and its email settings (spec 2.12): the same for templates, reports and scheduled
 * reports. A request is merged into the previous values.
 */
export type Section = {
  visible: boolean;
  heading: string;
  description: string;
  dynamic_data: Record<string, unknown>;
};

export interface ReportContent {
  general: { primary_color: string; language: string; date_format: string };
  sections: Record<string, Section>;
  section_order: string[];
}

export interface ReportEmail {
  senderId: string | null;
  subject: string;
  body: string;
  attachPdf: boolean;
}

/** A request: every field is optional. */
export interface ContentPatch {
  general?: { [F in keyof ReportContent['general']]?: string | undefined } | undefined;
  sections?: Record<string, { [F in keyof Section]?: Section[F] | undefined }> | undefined;
  section_order?: string[] | undefined;
}

export interface EmailPatch {
  sender_email?: { id: string } | null | undefined;
  subject?: string | undefined;
  body?: string | undefined;
  attach_pdf?: boolean | undefined;
}
