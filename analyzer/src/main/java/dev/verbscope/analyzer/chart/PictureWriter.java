package dev.verbscope.analyzer.chart;

import java.awt.Dimension;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.awt.image.RenderedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.apache.batik.svggen.ImageHandlerBase64Encoder;
import org.apache.batik.svggen.SVGGeneratorContext;
import org.apache.batik.svggen.SVGGraphics2D;
import org.apache.batik.svggen.SVGGraphics2DIOException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Writes pictures as PNG or SVG. */
public final class PictureWriter {
    private static final String SVG = "http://www.w3.org/2000/svg";

    private PictureWriter() {}

    /** What a picture is written as. */
    public enum Format {
        /** Pixels. */
        PNG,
        /** Shapes and text. */
        SVG;

        /**
         * The format that a file's name asks for.
         *
         * @throws IllegalArgumentException if it ends in neither
         */
        public static Format ofName(String name) {
            String lower = name.toLowerCase(Locale.ROOT);
            if (lower.endsWith(".png")) {
                return PNG;
            }
            if (lower.endsWith(".svg")) {
                return SVG;
            }
            throw new IllegalArgumentException(name + ": expected a name that ends in .png or .svg");
        }
    }

    /**
     * Writes a picture; the stream is flushed, not closed.
     *
     * @param width width in pixels; the height follows from what is in it
     */
    public static void write(Picture picture, Format format, int width, OutputStream out) throws IOException {
        if (format == Format.PNG) {
            png(picture, width, out);
        } else {
            Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8);
            writer.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
            writer.write(svg(picture, width));
            writer.flush();
        }
        out.flush();
    }

    private static void png(Picture picture, int width, OutputStream out) throws IOException {
        Graphics2D measure = new BufferedImage(1, 1, BufferedImage.TYPE_INT_RGB).createGraphics();
        int height = picture.height(measure, width);
        measure.dispose();
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D g = image.createGraphics();
        picture.draw(g, width);
        g.dispose();
        // ImageIO seeks in what it writes
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 17);
        ImageIO.setUseCache(false);
        if (!ImageIO.write(image, "png", bytes)) {
            throw new IOException("this Java has no PNG writer");
        }
        bytes.writeTo(out);
    }

    /** The picture as an {@code svg} element without a document type, fit to be put into a page. */
    public static String svg(Picture picture, int width) {
        try {
            Document document = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .getDOMImplementation()
                    .createDocument(SVG, "svg", null);
            SVGGeneratorContext context = SVGGeneratorContext.createDefault(document);
            context.setImageHandler(new PngInside());
            SVGGraphics2D g = new SVGGraphics2D(context, false);
            int height = picture.height(g, width);
            g.setSVGCanvasSize(new Dimension(width, height));
            picture.draw(g, width);
            Element root = g.getRoot();
            root.setAttribute("viewBox", "0 0 " + width + " " + height);
            NodeList images = root.getElementsByTagName("image");
            for (int i = 0; i < images.getLength(); i++) {
                // a cell of a map is a fact: it must not run into its neighbours
                ((Element) images.item(i)).setAttribute("style", "image-rendering:pixelated");
            }
            Element title = document.createElementNS(SVG, "title");
            title.setTextContent(picture.title());
            Element description = document.createElementNS(SVG, "desc");
            description.setTextContent(picture.alt());
            root.insertBefore(description, root.getFirstChild());
            root.insertBefore(title, description);
            Transformer transformer = TransformerFactory.newInstance().newTransformer();
            transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
            StringWriter text = new StringWriter();
            transformer.transform(new DOMSource(root), new StreamResult(text));
            return text.toString();
        } catch (ParserConfigurationException | TransformerException e) {
            throw new UncheckedIOException(new IOException("cannot write SVG: " + e.getMessage(), e));
        }
    }

    /** Puts images into the SVG as PNG. Batik's own way needs its codecs, the JDK has one. */
    private static final class PngInside extends ImageHandlerBase64Encoder {
        @Override
        public void encodeImage(RenderedImage image, OutputStream out) throws SVGGraphics2DIOException {
            try {
                ImageIO.setUseCache(false);
                ImageIO.write(image, "png", out);
            } catch (IOException e) {
                throw new SVGGraphics2DIOException(e);
            }
        }
    }
}
